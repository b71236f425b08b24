// Reads and writes the number of pods of a server and of its proxy through `scale` of the Kubernetes API: implements
// `ServerScale` of gateway/backends/sleep/ports.ts.

import type { ServerScale } from '#gateway/backends/sleep/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import { type ObjectRequest, requestObject } from './object-request.ts';
import type { AttachOptions } from './options.ts';
import { statusIn } from './refusal.ts';

export interface ScaleOptions extends Pick<AttachOptions, 'server' | 'namespace' | 'credentials'> {
  /** Name of the StatefulSet of the server. */
  readonly statefulSet: string;
  /** Name of the Deployment of the proxy. */
  readonly deployment: string;
}

/** The functions throw Failure `scale-refused`, `attach-unreachable`. */
export function createServerScale(options: ScaleOptions): ServerScale {
  const { statefulSet, deployment } = options;
  const server = scalePath(options, 'statefulsets', statefulSet);
  const proxy = scalePath(options, 'deployments', deployment);
  return {
    async read() {
      const { declared, existing } = countsIn(await requestScale(options, server, { method: 'GET' }));
      return { declared, existing };
    },
    async declare(pods) {
      const body = JSON.stringify({ spec: { replicas: pods } });
      await requestScale(options, `${server}?fieldManager=${FIELD_MANAGER}`, {
        method: 'PATCH',
        body,
        contentType: 'application/merge-patch+json',
      });
    },
    async countProxies() {
      const { existing, version } = countsIn(await requestScale(options, proxy, { method: 'GET' }));
      return { pods: existing, version };
    },
  };
}

function scalePath({ namespace }: ScaleOptions, plural: string, name: string): string {
  const place = `namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`;
  return `/apis/apps/v1/${place}/scale`;
}

/** Writer of the number of pods in `managedFields`. */
const FIELD_MANAGER = 'skep-proxy';

async function requestScale(options: ScaleOptions, path: string, request: ObjectRequest): Promise<JsonObject> {
  const { status, text } = await requestObject(options, path, await options.credentials(), request);
  const value = parseJson(text);
  if (status === 200 && isObject(value) && value.kind === 'Scale') return value;
  const said = statusIn(text)?.message;
  const why = typeof said === 'string' ? said : text.trim().slice(0, 300);
  const what = request.method === 'GET' ? 'read' : 'set';
  throw new Failure('scale-refused', `the number of pods cannot be ${what}: the API server answers ${status}: ${why}`, {
    data: { status },
    retryable: status >= 500 || status === 429 || status === 409,
  });
}

/** The API server leaves out `replicas` if it is 0. Without a version, no change of the pods could be noticed. */
function countsIn({ metadata, spec, status }: JsonObject) {
  const version = isObject(metadata) ? metadata.resourceVersion : undefined;
  if (typeof version !== 'string')
    throw new Failure('scale-refused', 'the number of pods cannot be read: the API server sent no resourceVersion');
  return { declared: replicasIn(spec), existing: replicasIn(status), version };
}

function replicasIn(part: unknown): number {
  return isObject(part) && typeof part.replicas === 'number' ? part.replicas : 0;
}
