// Checks a configuration for `skep vmcp validate`: reports errors that would prevent the start, and settings with an
// unexpected effect.

import { conflictName } from '#contracts/virtual-model/aggregate.ts';
import { NAME_MAX } from '#contracts/virtual-model/short-names.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { credentialOfStrategy } from '#gateway/credentials/of-strategy.ts';
import { aggregationRules } from '#gateway/virtual-server/settings.ts';
import { pointerToken } from '#std/json.ts';
import { proxyClock } from '../proxy/clock.ts';
import { createWatchedFiles, type WatchedFiles } from '../watched-files.ts';
import { unknownTypes } from './audit.ts';
import { readVirtualConfig } from './config.ts';
import { checkPolicies } from './policies.ts';
import { workflowWarnings } from './workflows.ts';

/**
 * Returns warnings. Throws a Failure for an error. A missing secret is not an error, because secrets may be on another
 * machine.
 */
export function checkVirtualConfig(files: WatchedFiles, file: string): readonly string[] {
  const config = readVirtualConfig(files, file);
  checkPolicies(config);
  checkCredentials(config);
  const types = unknownTypes(config).map((type) => `/audit: there is no type of events ${type}`);
  return [...nameWarnings(config), ...memberWarnings(config), ...workflowWarnings(config), ...types];
}

/** Throws a Failure if a strategy cannot be used. The check uses a fixed text in place of secrets. */
function checkCredentials({ outgoingAuth }: VmcpConfig): void {
  for (const [name, strategy] of Object.entries(outgoingAuth.backends)) {
    const { headerInjection, tokenExchange, bearerToken } = strategy;
    const variables = [headerInjection?.headerValueEnv, tokenExchange?.clientSecretEnv, bearerToken?.tokenEnv];
    const environment = Object.fromEntries(variables.map((variable = '') => [variable, 'secret']));
    credentialOfStrategy(strategy, `/outgoingAuth/backends/${pointerToken(name)}`, { ...UNUSED, environment });
  }
}

const UNUSED = {
  fetch: () => Promise.reject(new Error('nothing is sent by a check')),
  clock: proxyClock,
  secretFiles: createWatchedFiles(),
  notify: () => undefined,
  providerToken: async () => undefined,
};

/** Warns of long tool names in the configuration. Other names are unknown before a backend has responded. */
function nameWarnings(config: VmcpConfig): readonly string[] {
  const { resolution, shown } = aggregationRules(config);
  return (config.aggregation.tools ?? []).flatMap(({ workload, filter = [] }) => {
    const { overrides } = shown(workload);
    const given = Object.values(overrides).flatMap(({ name }) => name ?? []);
    const names = [...new Set([...filter, ...given])].map((name) => conflictName(workload, name, resolution));
    return names
      .filter((name) => name.length > NAME_MAX)
      .map((name) => `the tool ${name} has ${name.length} characters: clients see it shortened to ${NAME_MAX}`);
  });
}

/** Warns of settings that name unknown backends. */
function memberWarnings({ aggregation, operational, backends }: VmcpConfig): readonly string[] {
  const names = new Set(backends.map(({ name }) => name));
  const said = [
    ...(aggregation.tools ?? []).map(
      ({ workload }, index) => [`/aggregation/tools/${index}/workload`, workload] as const,
    ),
    ...(aggregation.conflictResolutionConfig.priorityOrder ?? []).map(
      (name, index) => [`/aggregation/conflictResolutionConfig/priorityOrder/${index}`, name] as const,
    ),
    ...Object.keys(operational.timeouts.perWorkload ?? {}).map(
      (name) => ['/operational/timeouts/perWorkload', name] as const,
    ),
  ];
  return said
    .filter(([, name]) => !names.has(name))
    .map(([pointer, name]) => `${pointer}: there is no backend ${name}`);
}
