// Finds the webhooks that a resource names, for its proxy's configuration and for the Secrets in its pods.

import assert from 'node:assert/strict';
import type { RunConfig } from '#contracts/run-config.ts';
import { parseDuration } from '#std/duration.ts';
import { isObject } from '#std/json.ts';
import { specReader } from '../aliases.ts';
import type { Finding, View } from '../kind.ts';
import { SECRET_FILES, type SecretFile, secretPath } from '../pods/secret-files.ts';
import { placeOfUrl } from './url-places.ts';
import { listedWebhooks, type WebhookFields, Webhooks, type WebhooksSpec } from './webhooks.ts';

export interface WebhookSource {
  readonly webhookConfigRef?: { readonly name: string };
}

export interface WebhookSettings {
  readonly block: RunConfig['webhooks'];
  readonly files: readonly SecretFile[];
}

const read = specReader(Webhooks);
const DEFAULT_MS = 10_000;

/** Returns undefined if the resource names no webhooks. Called only if `inspect` has found no errors. */
export function webhookSettings({ webhookConfigRef: ref }: WebhookSource, view: View): WebhookSettings | undefined {
  if (ref === undefined) return undefined;
  const spec = view.find('MCPWebhookConfig', ref.name)?.spec;
  assert(isObject(spec), 'children are created only for resources whose references were inspected');
  const rendered = listedWebhooks(read(spec)).map(({ sort, index, webhook }) => {
    return { sort, ...renderWebhook(webhook, `${sort}-${index}`) };
  });
  const blockOf = (sort: 'mutating' | 'validating') =>
    rendered.flatMap((each) => (each.sort === sort ? [each.block] : []));
  return {
    block: { mutating: blockOf('mutating'), validating: blockOf('validating') },
    files: rendered.flatMap(({ files }) => files),
  };
}

type WebhookBlock = NonNullable<NonNullable<RunConfig['webhooks']>['mutating']>[number];

function renderWebhook(
  webhook: WebhookFields,
  place: string,
): { readonly block: WebhookBlock; readonly files: readonly SecretFile[] } {
  const { name, url, timeout, failurePolicy, hmacSecretRef, tlsConfig = {} } = webhook;
  const { caSecretRef, clientCertSecretRef, clientKeySecretRef, insecureSkipVerify = false } = tlsConfig;
  const named = [
    ['hmac_secret_file', 'hmac', hmacSecretRef],
    ['ca_file', 'ca', caSecretRef],
    ['client_cert_file', 'cert', clientCertSecretRef],
    ['client_key_file', 'key', clientKeySecretRef],
  ] as const;
  const mounted = named.flatMap(([field, part, secret]) =>
    secret === undefined ? [] : [{ field, file: SECRET_FILES.webhook(place, part), secret }],
  );
  return {
    block: {
      ...{ name, url, failure_policy: failurePolicy, insecure_skip_verify: insecureSkipVerify },
      timeout_ms: Math.ceil((timeout === undefined ? undefined : parseDuration(timeout)) ?? DEFAULT_MS),
      ...Object.fromEntries(mounted.map(({ field, file }) => [field, secretPath(file)])),
    },
    files: mounted.map(({ file, secret }) => ({ file, secret })),
  };
}

/**
 * For `inspect`: finds mistakes that make the MCPWebhookConfig unusable. Another manager may have applied it without
 * skep's checks.
 */
export function namedWebhookFindings({ webhookConfigRef: ref }: WebhookSource, view: View): readonly Finding[] {
  const spec = ref === undefined ? undefined : view.find('MCPWebhookConfig', ref.name)?.spec;
  if (ref === undefined || !isObject(spec)) return [];
  return webhookFindings(read(spec))
    .filter(({ severity }) => severity === 'error')
    .map(({ code, message }) => {
      const pointer = '/spec/webhookConfigRef/name';
      return { code, severity: 'error', pointer, message: `MCPWebhookConfig ${ref.name}: ${message}` };
    });
}

/** Finds mistakes in webhooks that neither their schema nor CEL can express. */
export function webhookFindings(spec: WebhooksSpec): readonly Finding[] {
  const names = new Set<string>();
  return listedWebhooks(spec).flatMap(({ webhook, pointer }): readonly Finding[] => {
    const { name, url, tlsConfig } = webhook;
    const fault = urlFault(url, tlsConfig?.insecureSkipVerify === true);
    const isTwice = names.has(name);
    names.add(name);
    return [
      ...(fault === undefined ? [] : [webhookInvalid(`${pointer}/url`, fault)]),
      ...(isTwice ? [webhookInvalid(`${pointer}/name`, `two webhooks have the name ${name}`)] : []),
      ...(tlsConfig?.insecureSkipVerify === true
        ? [
            {
              code: 'webhook-unverified',
              severity: 'warning',
              pointer: `${pointer}/tlsConfig/insecureSkipVerify`,
              message: `anyone on the network path can respond for the webhook ${name}`,
            } as const,
          ]
        : []),
    ];
  });
}

function webhookInvalid(pointer: string, message: string): Finding {
  return { code: 'webhook-invalid', severity: 'error', pointer, message };
}

function urlFault(text: string, acceptsHttp: boolean): string | undefined {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return 'url must be a complete URL, such as https://guard.example.com/check';
  if (url.username !== '' || url.password !== '')
    return 'url must not contain credentials, which anyone could read here';
  if (url.protocol === 'http:' && !acceptsHttp)
    return 'url must begin with https, because the response decides about requests';
  const { host, place } = placeOfUrl(text);
  return place === 'never'
    ? `${host} is the node itself, a metadata service or the API server: no webhook may name it`
    : undefined;
}
