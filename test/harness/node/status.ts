// The status of a pod out of the states of its containers, as a kubelet writes it.

import type { ContainerState, RunningContainer } from './running.ts';

export function statusOf(containers: readonly RunningContainer[]): object {
  const states = containers.map((each) => each.state());
  const ready = states.every((each) => each.ready);
  const started = states.map(({ startedAt }) => startedAt).sort()[0];
  const conditions = [
    ['PodScheduled', true],
    ['Initialized', true],
    ['ContainersReady', ready],
    ['Ready', ready],
  ].map(([type, holds]) => ({ type, status: holds === true ? 'True' : 'False', lastTransitionTime: started }));
  return {
    phase: 'Running',
    conditions,
    containerStatuses: containers.map(({ spec }, index) => {
      const state = states[index];
      return { name: spec.name, image: spec.image, imageID: spec.image, ...(state && containerStatus(state)) };
    }),
  };
}

function containerStatus({ id, running, ready, restarts, startedAt, exitCode }: ContainerState): object {
  const ended = { exitCode: exitCode ?? 0, reason: exitCode === 0 ? 'Completed' : 'Error' };
  return {
    containerID: id,
    ready,
    started: running,
    restartCount: restarts,
    state: running
      ? { running: { startedAt }, waiting: null }
      : { waiting: { reason: 'CrashLoopBackOff', message: `it ended with ${ended.exitCode}` }, running: null },
    ...(exitCode === undefined ? {} : { lastState: { terminated: { ...ended, containerID: id } } }),
  };
}
