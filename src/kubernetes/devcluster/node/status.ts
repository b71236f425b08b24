// Computes the status of a pod from its containers' states as a kubelet does.

import type { RunningContainer } from './container.ts';
import type { ContainerState, EndedRun, Stage } from './container-state.ts';

export function podStatus(containers: readonly RunningContainer[], since: number): object {
  const states = containers.map((each) => each.state());
  const ready = states.every((each) => each.ready);
  const time = timeText(since);
  const conditions = [
    ['PodScheduled', true],
    ['Initialized', true],
    ['ContainersReady', ready],
    ['Ready', ready],
  ].map(([type, holds]) => ({ type, status: holds === true ? 'True' : 'False', lastTransitionTime: time }));
  return {
    phase: phaseOf(states),
    conditions,
    hostIP: '127.0.0.1',
    podIP: '127.0.0.1',
    podIPs: [{ ip: '127.0.0.1' }],
    startTime: time,
    containerStatuses: containers.map(({ spec }, index) => {
      const state = states[index];
      return { name: spec.name, image: spec.image, imageID: spec.image, ...(state && containerStatus(state)) };
    }),
  };
}

function phaseOf(states: readonly ContainerState[]): string {
  const ended = states.flatMap(({ stage }) => (stage.is === 'terminated' ? [stage.run] : []));
  if (ended.length === states.length) return ended.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
  return states.every(({ id }) => id !== '') ? 'Running' : 'Pending';
}

function containerStatus({ id, stage, started, ready, restarts, last }: ContainerState): object {
  return {
    ...(id === '' ? {} : { containerID: id }),
    ready,
    started,
    restartCount: restarts,
    state: stageText(stage),
    lastState: last === undefined ? {} : { terminated: terminated(last) },
  };
}

function stageText(stage: Stage): object {
  const none = { waiting: null, running: null, terminated: null };
  switch (stage.is) {
    case 'waiting':
      return { ...none, waiting: { reason: stage.reason, message: stage.message } };
    case 'running':
      return { ...none, running: { startedAt: timeText(stage.startedAt) } };
    case 'terminated':
      return { ...none, terminated: terminated(stage.run) };
  }
}

function terminated({ id, exitCode, startedAt, finishedAt }: EndedRun): object {
  return {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: timeText(startedAt),
    finishedAt: timeText(finishedAt),
    containerID: id,
  };
}

/** Formats a time as the API does: in UTC, with whole seconds. */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
