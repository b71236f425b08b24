// Creates the settings for requests (authentication, audit, limits, permissions) from the configuration of a proxy,
// again after each change. Parts that live as long as the process are passed in.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Outbound } from '#adapters/http/outbound.ts';
import { createAuthenticate } from '#auth/providers.ts';
import { explain } from '#auth/rejection.ts';
import type { ResourceSettings } from '#auth/settings.ts';
import { type RunConfig, SECRET_ENV } from '#contracts/run-config.ts';
import { credentialOf } from '#gateway/credentials/of-config.ts';
import type { WebhookWorld } from '#gateway/gate/webhooks/run.ts';
import type { Callers } from '#gateway/proxy/callers.ts';
import { cleanPrefix } from '#gateway/proxy/forwarded.ts';
import type { LiveRules } from '#gateway/proxy/lists/live-stream.ts';
import type { ProxyParts } from '#gateway/proxy/parts.ts';
import { limitsOf, resourceOf } from '#gateway/proxy/settings.ts';
import type { SseFront } from '#gateway/proxy/sse/front.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';
import type { OpenIssuer } from '../issuer.ts';
import type { OpenedRateLimits } from '../rate-limits.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { proxyClock } from './clock.ts';
import { openDoorway, openLimits, refuseUnaudited } from './gate.ts';
import type { Recorder } from './record.ts';

/** Parts that stay unchanged when the configuration changes. */
type Fixed = Pick<
  ProxyParts,
  | 'backend'
  | 'sleeping'
  | 'rules'
  | 'seal'
  | 'health'
  | 'endpoint'
  | 'times'
  | 'beginSpan'
  | 'active'
  | 'untilStopped'
  | 'serveIssuer'
  | 'keptAnswerBytes'
>;

export interface SettingsParts {
  readonly fixed: Fixed;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  readonly outbound: Outbound;
  readonly recorder: Recorder;
  readonly rateLimits: Pick<OpenedRateLimits, 'use'>;
  /** undefined in virtual servers, which have no webhooks. */
  readonly webhooks: ((config: RunConfig) => WebhookWorld | undefined) | undefined;
  /** undefined if another issuer issues the accepted tokens. */
  readonly issuer: OpenIssuer | undefined;
  /** undefined if metrics are not served on the port for clients. */
  readonly metricsText: (() => string) | undefined;
  /** undefined if clients cannot use the transport of MCP 2024-11-05. */
  readonly sse: { readonly front: SseFront; readonly replica: string } | undefined;
}

/**
 * Returns a function that creates the settings, and throws a Failure if the configuration cannot be used. Parts whose
 * settings are unchanged keep their state.
 */
export function createSettings(parts: SettingsParts): (config: RunConfig) => ProxyParts {
  const { fixed, recorder, metricsText } = parts;
  const resourceFor = remember(['name', 'oidc_config'], (config) =>
    resourceOf(config, parts.environment[SECRET_ENV.oidcClientSecret], parts.issuer),
  );
  const callersFor = remember(['name', 'oidc_config'], (config) => openCallers(parts, resourceFor(config)));
  const enterFor = remember(['limits'], (config) => openLimits(limitsOf(config), proxyClock));
  const rateLimitsFor = remember(['rate_limiting', 'oidc_config'], (config) => parts.rateLimits.use(config));
  const credentialFor = remember(CREDENTIAL_KEYS, (config) => openCredential(parts, config));
  return (config) => {
    const resource = resourceFor(config);
    const limits = limitsOf(config);
    return {
      ...fixed,
      doorway: openDoorway(config, resource),
      callers: callersFor(config),
      enter: refuseUnaudited(config, recorder, enterFor(config)),
      credential: credentialFor(config),
      rateLimits: rateLimitsFor(config),
      webhooks: parts.webhooks?.(config),
      plain: { health: fixed.health, resource, metricsText },
      limits,
      trustForwarded: config.trust_proxy_headers,
      sse: parts.sse && {
        ...parts.sse,
        ...{ rules: fixed.rules, seal: fixed.seal, clock: proxyClock, untilStopped: fixed.untilStopped },
        messageBytes: limits.messageBytes,
        keepAliveMs: fixed.times.keepAliveMs,
        endpointPrefix: cleanPrefix(config.endpoint_prefix),
      },
      clock: proxyClock,
      newRequestId: randomUUID,
      record: recorder.recordAs(config),
    };
  };
}

const CREDENTIAL_KEYS = [
  'name',
  'remote_url',
  'header_forward',
  'oidc_config',
  'remove_caller_token',
  'token_exchange_config',
  'xaa_config',
  'header_injection_config',
  'bearer_token_config',
  'aws_sts_config',
] as const satisfies readonly (keyof RunConfig)[];

/**
 * Returns a function that creates the part again only if the value of a key has changed. An unchanged part keeps its
 * tokens and counts.
 */
function remember<Part>(
  keys: readonly (keyof RunConfig)[],
  make: (config: RunConfig) => Part,
): (config: RunConfig) => Part {
  let last: { readonly values: string; readonly part: Part } | undefined;
  return (config) => {
    const values = JSON.stringify(keys.map((key) => config[key] ?? null));
    if (last?.values !== values) last = { values, part: make(config) };
    return last.part;
  };
}

function openCredential({ environment, files, logger, outbound, issuer }: SettingsParts, config: RunConfig) {
  return credentialOf(config, {
    fetch: outbound.request,
    clock: proxyClock,
    environment,
    secretFiles: files,
    notify: ({ message, ...notice }) => logger.warn(notice, message),
    upstreamToken: issuer?.upstreamToken,
    upstreamIdToken: issuer?.upstreamIdToken,
  });
}

function openCallers(
  { logger, outbound, issuer, fixed }: SettingsParts,
  resource: ResourceSettings | undefined,
): Callers | undefined {
  if (resource === undefined) return undefined;
  const ports = {
    fetch: outbound.request,
    files: { read: readSecret },
    clock: proxyClock,
    notify: ({ message, ...notice }: { readonly message: string }) => logger.warn(notice, message),
  };
  return {
    authenticate: createAuthenticate(ports, resource.providers),
    resource,
    checkSession: issuer?.checkSession,
    findUpstream: issuer && findUpstream(issuer, fixed.rules),
    refused: ({ reason, ...data }) => logger.info({ code: reason, ...data }, explain(reason)),
  };
}

function findUpstream({ upstreamClaims }: OpenIssuer, { current }: LiveRules): Callers['findUpstream'] {
  return async function upstreamOf(identity) {
    const provider = current().upstreamProvider;
    return provider === undefined ? undefined : upstreamClaims(identity, provider);
  };
}

async function readSecret(path: string): Promise<string> {
  try {
    return textOfFile(await readFile(path), path, 'secret-file-unreadable');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('secret-file-unreadable', `${path} cannot be read`, { data: { path }, cause });
  }
}
