// Collects the facts that proxies of all kinds have in common: names, port, shared fields of the spec, and the
// resulting configuration and parts of pods.

import assert from 'node:assert/strict';
import type { Static } from '#std/schema.ts';
import type { AuthzSource } from '../auth/authz-settings.ts';
import type { Bundle } from '../auth/ca-bundle.ts';
import { type ExternalAuthParts, externalAuthParts } from '../auth/external-auth-parts.ts';
import { type ResolvedOIDC, resolveOIDC } from '../auth/oidc-settings.ts';
import type { TokenSource } from '../auth/token-settings.ts';
import type { KindSettings, Resource, View } from '../kind.ts';
import { secretsOf } from '../pods/pod.ts';
import { pullSecretNames } from '../pods/pull-secrets.ts';
import { type SecretKey, secretChecksum } from '../pods/secret-checksum.ts';
import { SECRET_FILES, type SecretFile, secretPath } from '../pods/secret-files.ts';
import type { ProxyTuning } from './annotations.ts';
import type { ResourceOverrides } from './overrides.ts';
import { sessionKeyFiles } from './session-keys.ts';
import type { AuditConfig } from './telemetry.ts';
import { type TelemetrySettings, type TelemetrySource, telemetrySettings } from './telemetry-settings.ts';
import { type WebhookSettings, type WebhookSource, webhookSettings } from './webhook-settings.ts';

/** Fields of the spec that every kind with a proxy has. */
interface ProxySpec extends TokenSource, AuthzSource, TelemetrySource, WebhookSource {
  readonly groupRef?: string;
  readonly toolConfigRef?: { readonly name: string };
  readonly authServerRef?: { readonly name: string };
  readonly externalAuthConfigRef?: { readonly name: string };
  readonly audit?: Static<typeof AuditConfig>;
  readonly trustProxyHeaders: boolean;
  readonly endpointPrefix?: string;
  readonly sessionAffinity: 'ClientIP' | 'None';
  readonly resourceOverrides?: Static<typeof ResourceOverrides>;
}

export interface ProxyFacts {
  readonly workload: 'mcpserver' | 'mcpremoteproxy';
  readonly name: string;
  readonly namespace: string;
  readonly spec: ProxySpec;
  /** False if the manifest names an account, for which skep renders no rights. */
  readonly hasOwnAccount: boolean;
  readonly resource: Resource;
  readonly port: number;
  /** Settings of the resource that are annotations. */
  readonly tuning: ProxyTuning;
  /** URL inside the cluster, without a path. */
  readonly origin: string;
  readonly names: {
    readonly deployment: string;
    readonly service: string;
    readonly account: string;
    readonly runConfig: string;
    readonly inlineAuthz: string;
    readonly sessionKeys: string;
    readonly disruptionBudget: string;
  };
}

/** Returns `proxyPort`. If `proxyPort` has its default, returns `port`, which is the older name of the field. */
export function proxyPort({ proxyPort, port }: { readonly proxyPort: number; readonly port: number }): number {
  return proxyPort === 8080 ? port : proxyPort;
}

/** Values that a proxy needs from the objects that its spec names. */
export interface ProxyNeeds {
  readonly oidc: ResolvedOIDC | undefined;
  /** Settings for authentication to the server behind the proxy. */
  readonly auth: ExternalAuthParts;
  readonly telemetry: TelemetrySettings | undefined;
  readonly webhooks: WebhookSettings | undefined;
  readonly pullSecrets: readonly string[];
  /** Secrets that the proxy reads from files. */
  readonly files: readonly SecretFile[];
  /** Returns the annotation that starts new pods when Secrets in their environment change. */
  followed(secrets: readonly SecretKey[]): Readonly<Record<string, string>>;
}

export function proxyNeeds(proxy: ProxyFacts, view: View, settings: KindSettings): ProxyNeeds {
  const { name, namespace, spec } = proxy;
  const own = spec.resourceOverrides?.proxyDeployment?.imagePullSecrets;
  const oidc = resolveOIDC(spec, view, proxy);
  assert(
    oidc === undefined || !('findings' in oidc),
    'children are created only for resources whose references were inspected',
  );
  const { read, files } = withSecretFile(oidc);
  const { externalAuthConfigRef: ref, authServerRef: serverRef } = spec;
  const auth = externalAuthParts({ name, namespace, ref, serverRef, oidc: read }, view);
  const telemetry = telemetrySettings(spec, view);
  const webhooks = webhookSettings(spec, view);
  return {
    oidc: auth.oidc,
    auth,
    telemetry,
    webhooks,
    pullSecrets: pullSecretNames(own, settings.pullSecrets),
    files: [
      ...sessionKeyFiles(proxy),
      ...files,
      ...auth.files,
      ...collectorHeaderFiles(telemetry),
      ...(webhooks?.files ?? []),
    ],
    followed: (secrets) => secretChecksum(secrets, view, settings),
  };
}

/** Returns the collector's headers whose values are in Secrets; an empty list if the proxy sends no telemetry. */
export function collectorHeaderFiles(
  settings: TelemetrySettings | undefined,
): readonly (SecretFile & { readonly name: string })[] {
  const otel = settings?.openTelemetry;
  if (otel?.enabled !== true) return [];
  return otel.secretHeaders.map(({ name, secret }, index) => {
    return { name, secret, file: SECRET_FILES.collectorHeader(index) };
  });
}

/** Returns the certificates for the collector; undefined if the proxy sends no telemetry. */
export function collectorBundle(settings: TelemetrySettings | undefined): Bundle | undefined {
  const otel = settings?.openTelemetry;
  return otel?.enabled === true ? otel.bundle : undefined;
}

/** Replaces the client secret's environment variable by a file, if its value is in a Secret. */
function withSecretFile(oidc: ResolvedOIDC | undefined): {
  readonly read: ResolvedOIDC | undefined;
  readonly files: readonly SecretFile[];
} {
  const file = SECRET_FILES.oidcClientSecret;
  const files = secretsOf(oidc?.env ?? []).map((secret) => ({ file, secret }));
  if (oidc === undefined || files.length === 0) return { read: oidc, files };
  return { read: { ...oidc, env: [], settings: { ...oidc.settings, client_secret_file: secretPath(file) } }, files };
}
