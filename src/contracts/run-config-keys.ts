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
  header_forward: 'start',
  trust_proxy_headers: 'start',
  endpoint_prefix: 'start',
  oidc_config: 'start',
  remove_caller_token: 'start',
  token_exchange_config: 'start',
  header_injection_config: 'start',
  bearer_token_config: 'start',
  aws_sts_config: 'start',
  embedded_auth_server_config: 'start',
  authz_config_path: 'start',
  audit_config: 'start',
  telemetry_config: 'start',
  tools_filter: 'start',
  tools_override: 'start',
  scaling_config: 'start',
  stdio: 'start',
  process: 'start',
  session_key_files: 'start',
  limits: 'start',
  timeouts: 'start',
  allowed_hosts: 'start',
  allowed_origins: 'start',
  backend_host_header: 'start',
  backend_ca_file: 'start',
  metrics: 'start',
  debug: 'start',
};

/** What needs another process when it is another. How many servers there are is for people: `stdio` says what counts. */
export function readAtStart(config: RunConfig): Partial<RunConfig> {
  const { scaling_config: scaling, ...others } = config;
  const session = scaling?.session_redis;
  const all = session === undefined ? others : { ...others, scaling_config: { session_redis: session } };
  return Object.fromEntries(Object.entries(all).filter(([key]) => READINGS.get(key) === 'start'));
}

const READINGS: ReadonlyMap<string, KeyReading> = new Map(Object.entries(RUN_CONFIG_KEYS));
