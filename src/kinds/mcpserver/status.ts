// How far an MCPServer is, by its workloads and by why its children are held (kinds.md 1.6). Knows nothing about how to
// change that.

import type { Static } from '../../std/schema.ts';
import type { Observed } from '../kind.ts';
import { conditionsOf, observedGeneration, refusalReason } from '../shared/conditions.ts';
import { configHashes } from '../shared/proxy-verdicts.ts';
import { readyReplicas, workloadState } from '../shared/workload.ts';
import { verdicts } from './conditions.ts';
import { childNames, clientUrl, type Server } from './facts.ts';
import type { MCPServerStatus } from './schema.ts';

type Status = Static<typeof MCPServerStatus>;

interface Progress {
  readonly phase: NonNullable<Status['phase']>;
  readonly message: string;
  readonly ready: boolean;
  readonly reason: string;
}

export function status(self: Server, observed: Observed): Status {
  const proxy = workloadState(observed.view, 'Deployment', childNames(self.name).deployment);
  const { phase, message, ready, reason } = progress(self, observed);
  const verdict = { type: 'Ready', status: ready ? 'True' : 'False', reason, message } as const;
  return {
    ...observedGeneration(self.resource),
    phase,
    message,
    url: clientUrl(self),
    readyReplicas: readyReplicas(proxy),
    ...configHashes(self.spec, observed.view),
    conditions: conditionsOf(self.resource, [...verdicts(self, observed), verdict], observed),
  };
}

/** The first that applies: being deleted, held, failed, as far as the workloads are. */
function progress(self: Server, { refusals, failures, view }: Observed): Progress {
  if (self.resource.metadata.deletionTimestamp !== undefined) {
    return { phase: 'Terminating', message: 'MCP server is being terminated', ready: false, reason: 'Terminating' };
  }
  const [refusal] = refusals;
  if (refusal !== undefined) {
    const prefix = refusal.code === 'invalid-pod-template' ? 'Invalid PodTemplateSpec: ' : '';
    const message = prefix + refusals.map((each) => each.message).join('; ');
    return { phase: 'Failed', message, ready: false, reason: refusalReason(refusal) };
  }
  if (failures.length > 0) {
    return { phase: 'Failed', message: failures.join('; '), ready: false, reason: 'ChildrenFailed' };
  }
  return workloadProgress(self, view);
}

function workloadProgress({ name }: Server, view: Observed['view']): Progress {
  const { deployment, statefulSet } = childNames(name);
  const states = [workloadState(view, 'Deployment', deployment), workloadState(view, 'StatefulSet', statefulSet)];
  const failed = states.find((each) => each.state === 'failed');
  const running = states.every((each) => readyReplicas(each) > 0);
  if (states.some((each) => each.state === 'stopped')) {
    const message = 'MCP server is stopped (scaled to zero)';
    return { phase: 'Stopped', message, ready: false, reason: 'ScaledToZero' };
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
  return { phase: 'Pending', message: 'MCP server is starting', ready: false, reason: 'WorkloadsNotReady' };
}
