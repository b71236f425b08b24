// Opens the webhooks of a proxy: connections, signatures, metrics.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Outbound } from '#adapters/http/outbound.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { Webhook, WebhookWorld } from '#gateway/gate/webhooks/run.ts';
import { hmacSha256 } from '#std/hash.ts';
import type { Metrics } from '#std/telemetry/metrics.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { proxyClock } from './clock.ts';

export interface WebhookParts {
  readonly outbound: Outbound;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

type Settings = NonNullable<NonNullable<RunConfig['webhooks']>['mutating']>[number];

/** Maximum number of bytes in the response of a webhook. */
const ANSWER_MAX = 1024 * 1024;

/** Returns a function that opens the webhooks of a configuration. All configurations share one counter. */
export function openWebhooks(parts: WebhookParts): (config: RunConfig) => WebhookWorld | undefined {
  const { logger, metrics } = parts;
  const answers = metrics.counter('skep_proxy_webhook_answers_total', 'Responses of webhooks, by outcome.', [
    'server',
    'webhook',
    'outcome',
  ]);
  return ({ name, namespace, transport, webhooks }) => {
    if (webhooks === undefined) return undefined;
    const { mutating = [], validating = [] } = webhooks;
    return {
      webhooks: [
        ...mutating.map((settings) => webhookOf(parts, settings, true)),
        ...validating.map((settings) => webhookOf(parts, settings, false)),
      ],
      server: { name, namespace, transport },
      newId: randomUUID,
      now: proxyClock.now,
      report(webhook, outcome, detail) {
        answers.add([name, webhook.name, outcome]);
        const facts = { webhook: webhook.name, detail };
        if (outcome === 'ignored')
          logger.warn({ code: 'webhook-ignored', ...facts }, 'a webhook failed, and the request continued without it');
      },
    };
  };
}

/**
 * Redirects are not followed. The URL may be at a private address, because the author of the configuration chose it.
 */
function webhookOf({ outbound, files }: WebhookParts, settings: Settings, mutates: boolean): Webhook {
  const { name, url, timeout_ms: timeoutMs, insecure_skip_verify: skipVerify } = settings;
  return {
    name,
    mutates,
    ignoresFailure: settings.failure_policy === 'ignore',
    async send(body, signal) {
      const { ca_file: ca, client_cert_file: cert, client_key_file: key } = settings;
      return outbound.request({
        ...{ url, method: 'POST', body, timeoutMs, skipVerify, signal },
        maxBytes: ANSWER_MAX,
        allowPrivate: true,
        httpsOnly: !skipVerify,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...signed(files, settings, body) },
        ...(ca === undefined ? {} : { ca: files.readSettings(ca) }),
        ...(cert === undefined || key === undefined
          ? {}
          : { identity: { cert: files.readSettings(cert), key: files.readSettings(key) } }),
      });
    },
  };
}

/** Returns headers with a signature of time and body (HMAC-SHA256), in ToolHive's format. */
function signed(files: WatchedFiles, { hmac_secret_file: file }: Settings, body: Buffer): Record<string, string> {
  if (file === undefined) return {};
  const secret = Buffer.from(files.readSettings(file));
  if (secret.length === 0) throw new Error('the key that signs requests is empty');
  const timestamp = String(Math.floor(proxyClock.now() / 1000));
  const signature = hmacSha256(secret, Buffer.concat([Buffer.from(`${timestamp}.`), body]));
  return { 'x-toolhive-signature': `sha256=${signature}`, 'x-toolhive-timestamp': timestamp };
}
