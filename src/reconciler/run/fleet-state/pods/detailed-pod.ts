// Computes the state of one pod for the console: readiness, restarts, and the reason if the pod is not ready.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { liveStateOf } from '../../observe/live-state.ts';
import type { DetailedPod } from '../detail-format.ts';

export function detailedPod(pod: KubeObject): DetailedPod {
  const status = isObject(pod.status) ? pod.status : {};
  const containers = statusesOf(status);
  const { ready, why } = liveStateOf(pod);
  const waiting = containers.flatMap(waitingReason)[0];
  const lastEnd = containers.flatMap(lastEndOf)[0];
  return {
    name: pod.metadata.name,
    ready,
    phase: typeof status.phase === 'string' ? status.phase : 'Unknown',
    restarts: containers.reduce((sum, { restartCount }) => sum + Number(restartCount ?? 0), 0),
    why: ready ? '' : (waiting ?? why),
    ...(lastEnd !== undefined && { lastEnd }),
  };
}

function statusesOf({ containerStatuses, initContainerStatuses }: JsonObject): readonly JsonObject[] {
  return [initContainerStatuses, containerStatuses].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
}

/** Returns reason and message of a container that waits or has terminated, such as `ImagePullBackOff: the message`. */
function waitingReason({ state }: JsonObject): readonly string[] {
  const { waiting, terminated } = isObject(state) ? state : {};
  const current = isObject(waiting) ? waiting : isObject(terminated) ? terminated : undefined;
  if (current === undefined || current.reason === 'Completed') return [];
  const words: readonly (Json | undefined)[] = [current.reason, current.message];
  return [words.filter((word) => typeof word === 'string' && word !== '').join(': ')];
}

/** Returns `OOMKilled, exit code 137`. */
function lastEndOf({ lastState }: JsonObject): readonly string[] {
  const { terminated } = isObject(lastState) ? lastState : {};
  if (!isObject(terminated)) return [];
  const { reason, exitCode } = terminated;
  return [`${typeof reason === 'string' ? reason : 'ended'}, exit code ${Number(exitCode ?? 0)}`];
}
