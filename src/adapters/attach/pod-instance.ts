// Identifies the current run of a container with one GET of its pod.

import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { requestObject } from './object-request.ts';
import type { AttachCredentials, AttachOptions } from './options.ts';
import { attachRefusal, podPath } from './refusal.ts';

export interface PodInstance {
  readonly uid: string;
  /** Identifies a run: `<container id>/<restart count>`. */
  readonly instance: string;
}

/**
 * Throws Failure `attach-not-running`, `attach-refused`, `attach-unreachable`. A pod that is being deleted counts as
 * not running.
 */
export async function readInstance(
  options: AttachOptions,
  pod: string,
  credentials: AttachCredentials,
): Promise<PodInstance> {
  const { status, text } = await requestObject(options, podPath(options.namespace, pod), credentials, {
    method: 'GET',
  });
  if (status !== 200) throw attachRefusal(status, text, pod);
  const read: unknown = JSON.parse(text);
  return instanceOf(isObject(read) ? read : {}, pod, options.container);
}

function instanceOf(pod: JsonObject, name: string, container: string): PodInstance {
  const metadata = isObject(pod.metadata) ? pod.metadata : {};
  const statuses =
    isObject(pod.status) && Array.isArray(pod.status.containerStatuses) ? pod.status.containerStatuses : [];
  const status = statuses.filter(isObject).find((each) => each.name === container);
  const state = isObject(status?.state) ? status.state : {};
  if (metadata.deletionTimestamp !== undefined) throw notRunning(name, container, 'the pod is being deleted');
  if (status === undefined || !isObject(state.running)) throw notRunning(name, container, whyIn(state));
  return {
    uid: String(metadata.uid ?? ''),
    instance: `${String(status.containerID)}/${String(status.restartCount)}`,
  };
}

function whyIn(state: JsonObject): string {
  const detail = [state.waiting, state.terminated].find(isObject);
  return detail === undefined ? 'it has no status' : String(detail.reason ?? detail.message ?? 'it has ended');
}

function notRunning(pod: string, container: string, why: string): Failure {
  const message = `container ${container} of pod ${pod} does not run: ${why}`;
  return new Failure('attach-not-running', message, { data: { pod, container }, retryable: true });
}
