// Defines when a proxy reads each key of its configuration, and which changes require a restart.

import { changedKeys, type KeyReadings, pickKeys } from './key-readings.ts';
import type { RunConfig } from './run-config.ts';

/**
 * When the proxy reads the value of each key. Files that keys name are read at other times. Policies, secrets,
 * certificates of the issuer and tokens are read again when their files change. Trusted certificates for the server and
 * the collector are read only at the start.
 */
export const RUN_CONFIG_KEYS: KeyReadings<RunConfig> = {
  schema_version: 'start',
  name: 'start',
  namespace: 'start',
  group: 'never',
  image: 'never',
  cmd_args: 'never',
  env_vars: 'never',
  volumes: 'never',
  permission_profile_name_or_path: 'never',
  transport: 'start',
  proxy_mode: 'start',
  host: 'start',
  port: 'start',
  attach: 'start',
  target_host: 'start',
  target_port: 'start',
  remote_url: 'start',
  header_forward: 'again',
  trust_proxy_headers: 'again',
  endpoint_prefix: 'again',
  oidc_config: 'again',
  remove_caller_token: 'again',
  token_exchange_config: 'again',
  header_injection_config: 'again',
  bearer_token_config: 'again',
  aws_sts_config: 'again',
  xaa_config: 'start',
  embedded_auth_server_config: 'start',
  authz_config_path: 'again',
  authz_groups: 'again',
  audit_config: 'again',
  telemetry_config: 'start',
  tools_filter: 'again',
  tools_override: 'again',
  tools_lock: 'again',
  scaling_config: 'start',
  rate_limiting: 'again',
  webhooks: 'start',
  stdio: 'start',
  sleep: 'start',
  process: 'start',
  session_key_files: 'start',
  limits: 'again',
  timeouts: 'start',
  allowed_hosts: 'again',
  allowed_origins: 'again',
  backend_host_header: 'start',
  mcp_path: 'start',
  backend_ca_file: 'start',
  metrics: 'start',
  debug: 'again',
};

/**
 * Returns the keys, and parts of keys, whose change requires a restart. From `scaling_config` only the Redis is
 * returned, because `stdio` contains the effective number of servers. With an embedded authorization server, issuer and
 * audience are returned, because the server uses the values at its start.
 */
export function readAtStart(config: RunConfig): Readonly<Record<string, unknown>> {
  const { scaling_config: scaling, limits, oidc_config: oidc, embedded_auth_server_config: authServer } = config;
  const session = scaling?.session_redis;
  const messageBytes = limits?.message_bytes;
  const { scaling_config: _scaling, ...atStart } = pickKeys(RUN_CONFIG_KEYS, config, 'start');
  return {
    ...atStart,
    ...(session && { scaling_config: { session_redis: session } }),
    ...(messageBytes && { limits: { message_bytes: messageBytes } }),
    ...(authServer && oidc && { oidc_config: { issuer: oidc.issuer, audience: oidc.audience ?? oidc.resource_url } }),
  };
}

/** Returns the changed keys that require a restart. */
export function keysForRestart(before: RunConfig, after: RunConfig): readonly string[] {
  return changedKeys(readAtStart(before), readAtStart(after));
}
