// Which run of a container it is: one GET of its pod. Knows nothing about streams.

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Failure } from '../../std/failure.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { AttachCredentials, AttachOptions } from './options.ts';
import { attachRefusal, podPath, readBounded } from './refusal.ts';

const MAX_POD_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** `<container id>/<restart count>`. Throws Failure `attach-not-running`, `attach-refused`, `attach-unreachable`. */
export async function readInstance(
  options: AttachOptions,
  pod: string,
  credentials: AttachCredentials,
): Promise<string> {
  const url = new URL(`${options.server}${podPath(options.namespace, pod)}`);
  const { status, text } = await get(url, credentials);
  if (status !== 200) throw attachRefusal(status, text, pod);
  const read: unknown = JSON.parse(text);
  return instanceOf(isObject(read) ? read : {}, pod, options.container);
}

function get(url: URL, { headers, tls }: AttachCredentials): Promise<{ status: number; text: string }> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    function fail(cause: Error): void {
      reject(
        new Failure('attach-unreachable', `the API server cannot be reached: ${cause.message}`, {
          cause,
          retryable: true,
        }),
      );
    }
    const sent = request(url, { headers: { ...headers, accept: 'application/json' }, ...tls, timeout: TIMEOUT_MS });
    sent.on('timeout', () => sent.destroy(new Error(`no answer in ${TIMEOUT_MS / 1000} s`)));
    sent.on('error', fail);
    sent.on('response', (response) => {
      readBounded(response, MAX_POD_BYTES).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail);
    });
    sent.end();
  });
}

function instanceOf(pod: JsonObject, name: string, container: string): string {
  const statuses =
    isObject(pod.status) && Array.isArray(pod.status.containerStatuses) ? pod.status.containerStatuses : [];
  const status = statuses.filter(isObject).find((each) => each.name === container);
  const state = isObject(status?.state) ? status.state : {};
  if (status === undefined || !isObject(state.running)) throw notRunning(name, container, state);
  return `${String(status.containerID)}/${String(status.restartCount)}`;
}

function notRunning(pod: string, container: string, state: JsonObject): Failure {
  const detail = [state.waiting, state.terminated].find(isObject);
  const why = detail === undefined ? 'it has no status' : String(detail.reason ?? detail.message ?? 'it has ended');
  const message = `container ${container} of pod ${pod} does not run: ${why}`;
  return new Failure('attach-not-running', message, { data: { pod, container }, retryable: true });
}
