// Computes the status of an MCPRemoteProxy from its Deployment and from the reasons why its children are kept
// unchanged.

import type { Static } from '#std/schema.ts';
import { conditionsOf, observedGeneration } from '../conditions.ts';
import type { Observed } from '../kind.ts';
import { type PhaseProgress as Reached, setback } from '../pods/progress.ts';
import { adviceOnLog, workloadState } from '../pods/workload.ts';
import { settingsHashes } from '../shared-settings.ts';
import { configurationFault, remoteProxyConditions } from './conditions.ts';
import { proxyUrl, type RemoteProxy, remoteProxyChildNames } from './facts.ts';
import type { MCPRemoteProxyStatus } from './schema.ts';

type Status = Static<typeof MCPRemoteProxyStatus>;
type RemoteProxyProgress = Reached<NonNullable<Status['phase']>>;

export function status(self: RemoteProxy, observed: Observed): Status {
  const { phase, message, ready, reason } = progress(self, observed);
  const readyResult = { type: 'Ready', status: ready ? 'True' : 'False', reason, message } as const;
  const { oidcConfig, oidcConfigRef } = self.spec;
  const { resourceUrl } = oidcConfigRef ?? oidcConfig ?? {};
  return {
    ...observedGeneration(self.resource),
    phase,
    message,
    url: proxyUrl(self),
    externalURL: resourceUrl === undefined || resourceUrl === '' ? undefined : resourceUrl,
    ...settingsHashes(self.spec, observed.view),
    conditions: conditionsOf(self.resource, [...remoteProxyConditions(self, observed), readyResult], observed),
  };
}

/**
 * Returns the phase. If a check of the configuration failed, the reason is ToolHive's reason for the first failed
 * check.
 */
function progress(self: RemoteProxy, observed: Observed): RemoteProxyProgress {
  const held = setback('Remote proxy', self.resource, observed);
  if (held === undefined) return deploymentProgress(self, observed.view);
  const fault = held.phase === 'Failed' ? configurationFault(observed.refusals) : undefined;
  return fault === undefined ? held : { ...held, message: `Validation failed: ${held.message}`, reason: fault.reason };
}

function deploymentProgress({ name, namespace }: RemoteProxy, view: Observed['view']): RemoteProxyProgress {
  const { deployment } = remoteProxyChildNames(name);
  const state = workloadState(view, 'Deployment', deployment);
  const notReady = { ready: false, reason: 'DeploymentNotReady' };
  switch (state.state) {
    case 'missing':
      return { phase: 'Pending', message: 'No pods found for remote proxy', ...notReady };
    case 'stopped':
      return { phase: 'Pending', message: 'No pods found for remote proxy', ready: false, reason: 'ScaledToZero' };
    case 'failed': {
      const message = `Remote proxy failed to start: ${state.message}`;
      return { phase: state.ready > 0 ? 'Ready' : 'Failed', message, ...notReady };
    }
    case 'complete':
      return { phase: 'Ready', message: 'Remote proxy is running', ready: true, reason: 'DeploymentReady' };
    case 'progressing':
      return state.ready > 0
        ? { phase: 'Ready', message: 'Remote proxy is running', ...notReady }
        : {
            phase: 'Pending',
            message: `Remote proxy is starting. ${adviceOnLog(namespace, deployment)}`,
            ...notReady,
          };
  }
}
