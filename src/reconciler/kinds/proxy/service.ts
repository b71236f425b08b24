// Renders the blocks of a proxy's configuration about its listener: limits of one pod, allowed origins, metrics.

import type { RunConfig } from '#contracts/run-config.ts';
import type { ProxyTuning } from './annotations.ts';
import type { ProxyFacts } from './proxy.ts';
import { sessionKeyPaths } from './session-keys.ts';

export type ServiceBlocks = Pick<
  RunConfig,
  | 'session_key_files'
  | 'limits'
  | 'allowed_hosts'
  | 'allowed_origins'
  | 'backend_host_header'
  | 'mcp_path'
  | 'backend_ca_file'
  | 'metrics'
>;

/** Folder and file with the mounted certificates for a remote server. */
export const BACKEND_CA = { directory: '/etc/skep/backend-ca', file: 'ca.crt' } as const;

export function serviceBlocks({ port, tuning }: Pick<ProxyFacts, 'port' | 'tuning'>): ServiceBlocks {
  const { allowedHosts, allowedOrigins, backendHost, backendCA, mcpPath } = tuning;
  const metrics = metricsPort({ port, tuning });
  return {
    session_key_files: sessionKeyPaths(),
    ...limits(tuning),
    allowed_hosts: allowedHosts,
    allowed_origins: allowedOrigins,
    backend_host_header: backendHost,
    mcp_path: mcpPath,
    backend_ca_file: backendCA && `${BACKEND_CA.directory}/${BACKEND_CA.file}`,
    metrics: metrics === undefined ? undefined : { host: '0.0.0.0', port: metrics },
  };
}

/** Returns the port of the separate listener for metrics; undefined if metrics have no separate listener. */
export function metricsPort({ port, tuning }: Pick<ProxyFacts, 'port' | 'tuning'>): number | undefined {
  if (tuning.metrics === 'disabled') return undefined;
  return port === METRICS_PORT ? METRICS_PORT + 1 : METRICS_PORT;
}

const METRICS_PORT = 9090;

function limits(tuning: ProxyTuning): Pick<RunConfig, 'limits'> {
  const { requestBytes, requestsPerSecond, concurrentCalls, streams, requestsPerSecondOfCaller } = tuning;
  const all = {
    ...(requestBytes === undefined ? {} : { request_bytes: requestBytes }),
    ...(requestsPerSecond === undefined ? {} : { requests_per_second: requestsPerSecond }),
    ...(concurrentCalls === undefined ? {} : { concurrent_calls: concurrentCalls }),
    ...(streams === undefined ? {} : { streams }),
    ...(requestsPerSecondOfCaller === undefined
      ? {}
      : { per_caller: { requests_per_second: requestsPerSecondOfCaller } }),
  };
  return Object.keys(all).length === 0 ? {} : { limits: all };
}
