// When a proxy reads which key of its configuration, and so which changes need another process. Knows nothing about pods.

import type { RunConfig } from './run-config.ts';

/**
 * `start`: read once; another value needs another process. `again`: read again while the proxy runs, living sessions
 * included. `never`: for people and tools. A file that a key names is another matter: policies, secrets, certificates of the
 * issuer and tokens are read again when their files change, certificates to trust for the server are not.
 */
export type KeyReading = 'start' | 'again' | 'never';

export const RUN_CONFIG_KEYS: { readonly [Key in keyof Required<RunConfig>]: KeyReading } = {
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
  embedded_auth_server_config: 'start',
  authz_config_path: 'again',
  audit_config: 'again',
  telemetry_config: 'start',
  tools_filter: 'again',
  tools_override: 'again',
  scaling_config: 'start',
  stdio: 'start',
  process: 'start',
  session_key_files: 'start',
  limits: 'again',
  timeouts: 'start',
  allowed_hosts: 'again',
  allowed_origins: 'again',
  backend_host_header: 'start',
  backend_ca_file: 'start',
  metrics: 'start',
  debug: 'again',
};

/**
 * What needs another process when it is another. How many servers there are is for people: `stdio` says what counts. How
 * large a message of the server may be is known to what reads them from the start.
 */
export function readAtStart(config: RunConfig): Partial<RunConfig> {
  const { scaling_config: scaling, limits, ...others } = config;
  const atStart = Object.entries(others).filter(([key]) => READINGS.get(key) === 'start');
  const session = scaling?.session_redis;
  const messageBytes = limits?.message_bytes;
  return {
    ...Object.fromEntries(atStart),
    ...(session && { scaling_config: { session_redis: session } }),
    ...(messageBytes && { limits: { message_bytes: messageBytes } }),
  };
}

/** Keys whose other value needs another process. */
export function keysForRestart(before: RunConfig, after: RunConfig): readonly string[] {
  const [old, next] = [before, after].map((config) => new Map(Object.entries(readAtStart(config))));
  const keys = new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])]);
  return [...keys].filter((key) => JSON.stringify(old?.get(key)) !== JSON.stringify(next?.get(key))).toSorted();
}

/** The new configuration as far as a running proxy follows it. */
export function followed(running: RunConfig, next: RunConfig): RunConfig {
  const again = Object.keys(RUN_CONFIG_KEYS).filter((key) => READINGS.get(key) === 'again');
  const cleared = Object.fromEntries(again.map((key) => [key, undefined]));
  const changed = Object.fromEntries(Object.entries(next).filter(([key]) => again.includes(key)));
  return { ...running, ...cleared, ...changed };
}

const READINGS: ReadonlyMap<string, KeyReading> = new Map(Object.entries(RUN_CONFIG_KEYS));
