// Defines when a virtual server reads each key of its configuration, and which changes require a restart.

import { changedKeys, type KeyReadings, pickKeys } from './key-readings.ts';
import type { VmcpConfig } from './vmcp-config.ts';

/**
 * When the virtual server reads the value of each key. Certificates and tokens in files that keys name are read again
 * when their files change.
 */
export const VMCP_CONFIG_KEYS: KeyReadings<VmcpConfig> = {
  name: 'start',
  groupRef: 'never',
  backends: 'again',
  incomingAuth: 'again',
  outgoingAuth: 'again',
  authServer: 'start',
  aggregation: 'again',
  compositeTools: 'again',
  operational: 'again',
  metadata: 'again',
  passthroughHeaders: 'again',
  telemetry: 'start',
  audit: 'again',
  auditFailure: 'again',
  optimizer: 'again',
  sessionStorage: 'start',
  rateLimiting: 'again',
};

/**
 * Returns the keys, and parts of keys, whose change requires a restart. The audit log's file and environment variables
 * are opened or read only at the start. With an embedded authorization server, issuer and audience are returned,
 * because the server uses the values at its start.
 */
export function virtualReadAtStart(config: VmcpConfig): Readonly<Record<string, unknown>> {
  const { audit, authServer, incomingAuth } = config;
  const { clientSecretEnv, issuer, audience } = incomingAuth.oidc ?? {};
  const accepted = authServer && { issuer, audience };
  return {
    ...pickKeys(VMCP_CONFIG_KEYS, config, 'start'),
    ...(audit?.logFile && { audit: { logFile: audit.logFile } }),
    ...((clientSecretEnv ?? accepted) && { incomingAuth: { clientSecretEnv, ...accepted } }),
  };
}

/** Returns the changed keys that require a restart. */
export function virtualKeysForRestart(before: VmcpConfig, after: VmcpConfig): readonly string[] {
  return changedKeys(virtualReadAtStart(before), virtualReadAtStart(after));
}
