// Computes the status of an MCPServer from its workloads and from the reasons why its children are kept unchanged.

import { NOT_RUN_HERE } from '#kubernetes/rules/not-run-here.ts';
import type { Static } from '#std/schema.ts';
import { conditionsOf, observedGeneration } from '../conditions.ts';
import type { Observed } from '../kind.ts';
import { type PhaseProgress as Reached, setback } from '../pods/progress.ts';
import {
  adviceOnEvents,
  adviceOnLog,
  readyReplicas,
  type WorkloadState,
  whyElsewhere,
  workloadState,
} from '../pods/workload.ts';
import { settingsHashes } from '../shared-settings.ts';
import { serverConditions } from './conditions.ts';
import { clientUrl, type Server, serverChildNames, sessionPool, sleepOf } from './facts.ts';
import type { MCPServerStatus } from './schema.ts';

type Status = Static<typeof MCPServerStatus>;
interface Progress extends Reached<NonNullable<Status['phase']>> {
  /** Message of the condition Ready if it differs from the message of the phase. */
  readonly why?: string;
}

export function status(self: Server, observed: Observed): Status {
  const proxy = workloadState(observed.view, 'Deployment', serverChildNames(self.name).deployment);
  const progress: Progress = setback('MCP server', self.resource, observed) ?? workloadProgress(self, observed.view);
  const { phase, message, ready, reason, why = message } = progress;
  const readyResult = { type: 'Ready', status: ready ? 'True' : 'False', reason, message: why } as const;
  return {
    ...observedGeneration(self.resource),
    phase,
    message,
    url: clientUrl(self),
    readyReplicas: whyElsewhere(proxy) === undefined ? readyReplicas(proxy) : 0,
    ...settingsHashes(self.spec, observed.view),
    conditions: conditionsOf(self.resource, [...serverConditions(self, observed), readyResult], observed),
  };
}

/**
 * Returns the progress of a server that is asleep. The phase is one of the documented phases, because other programs
 * read it.
 */
function asleepProgress(self: Server, proxy: WorkloadState): Progress {
  switch (proxy.state) {
    case 'complete':
      return { phase: 'Running', message: SLEEPING, ready: true, reason: 'Sleeping' };
    case 'missing':
      return { phase: 'Pending', message: 'MCP server is being created', ready: false, reason: 'WorkloadsMissing' };
    case 'stopped': {
      const message = 'MCP server is stopped (its proxy is scaled to zero)';
      return { phase: 'Stopped', message, ready: false, reason: 'ScaledToZero' };
    }
    case 'failed': {
      const message = `MCP server is sleeping, and its proxy failed: ${proxy.message}`;
      const phase = proxy.ready > 0 ? 'Running' : 'Failed';
      return { phase, message, ready: false, reason: 'WorkloadsFailed' };
    }
    case 'progressing': {
      if (proxy.ready > 0) return { phase: 'Running', message: SLEEPING, ready: false, reason: 'RolloutInProgress' };
      const advice = adviceOnLog(self.namespace, serverChildNames(self.name).deployment);
      const message = `MCP server is sleeping, and its proxy is not ready. ${advice}`;
      return { phase: 'Pending', message, ready: false, reason: 'WorkloadsNotReady' };
    }
  }
}

const SLEEPING = 'MCP server is sleeping: the next call starts it';

function workloadProgress(self: Server, view: Observed['view']): Progress {
  const { deployment, statefulSet } = serverChildNames(self.name);
  const proxy = workloadState(view, 'Deployment', deployment);
  const servers = workloadState(view, 'StatefulSet', statefulSet);
  if (sleepOf(self) !== undefined && servers.state === 'stopped') return asleepProgress(self, proxy);
  // If each session has its own pod, pods start and end all the time. If every pod has the current version, a ready
  // proxy is therefore enough: it is ready only if it reaches a process.
  const renews = sessionPool(self) !== undefined && proxy.state === 'complete' && servers.state === 'progressing';
  const states = [proxy, renews && servers.rolled ? ({ state: 'complete', ready: proxy.ready } as const) : servers];
  const failed = states.find((each) => each.state === 'failed');
  const running = states.every((each) => readyReplicas(each) > 0);
  if (states.some((each) => each.state === 'stopped')) {
    const message = 'MCP server is stopped (scaled to zero)';
    return { phase: 'Stopped', message, ready: false, reason: 'ScaledToZero' };
  }
  const elsewhere = states.map(whyElsewhere).find((each) => each !== undefined);
  if (elsewhere !== undefined) {
    const message = `MCP server does not run here (${NOT_RUN_HERE}): ${elsewhere}`;
    return { phase: 'Stopped', message, ready: false, reason: NOT_RUN_HERE, why: elsewhere };
  }
  if (states.some((each) => each.state === 'missing')) {
    return { phase: 'Pending', message: 'MCP server is being created', ready: false, reason: 'WorkloadsMissing' };
  }
  if (failed !== undefined) {
    const message = `MCP server pod failed: ${failed.message}`;
    return { phase: running ? 'Running' : 'Failed', message, ready: false, reason: 'WorkloadsFailed' };
  }
  if (states.every((each) => each.state === 'complete')) {
    return { phase: 'Running', message: 'MCP server is running', ready: true, reason: 'WorkloadsReady' };
  }
  if (running) {
    return { phase: 'Running', message: 'MCP server is running', ready: false, reason: 'RolloutInProgress' };
  }
  const waiting =
    readyReplicas(servers) > 0
      ? `its proxy is not ready. ${adviceOnLog(self.namespace, deployment)}`
      : `no pod of the server is ready. ${adviceOnEvents(self.namespace, statefulSet)}`;
  return { phase: 'Pending', message: `MCP server is starting: ${waiting}`, ready: false, reason: 'WorkloadsNotReady' };
}
