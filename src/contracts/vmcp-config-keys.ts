// When a virtual server reads which key of its configuration, and so which changes need another process.

import { changedKeys, type KeyReadings, pickKeys } from './key-readings.ts';
import type { VmcpConfig } from './vmcp-config.ts';

/** Certificates and tokens that a key names by their file are read again when their files change. */
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
  admin: 'start',
};

/**
 * What needs another process when it is another. The file of the audit is opened once, variables are read once, and an
 * authorization server of its own issues tokens for the audience that was accepted then.
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

/** Keys whose other value needs another process. */
export function virtualKeysForRestart(before: VmcpConfig, after: VmcpConfig): readonly string[] {
  return changedKeys(virtualReadAtStart(before), virtualReadAtStart(after));
}
