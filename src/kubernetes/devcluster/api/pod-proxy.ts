// Serves `pods/proxy`: passes a GET on to a port of a pod.

import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { apiError, methodNotAllowed, notFound } from './status.ts';

/** Returns the port of this machine for a port of a pod, or undefined if it does not run here. */
export type FindPodPort = (namespace: string, pod: string, port: number) => number | undefined;

export interface ProxiedPath {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  /** Path with query. */
  readonly path: string;
}

const PODS = { group: '', plural: 'pods', kind: 'Pod' };
const PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/proxy(\/.*)?$/;

/** Returns undefined for other paths. */
export function proxiedPath({ pathname, search }: URL): ProxiedPath | undefined {
  const [, namespace, target, path = '/'] = PATH.exec(pathname) ?? [];
  if (namespace === undefined || target === undefined) return undefined;
  const [pod = '', port = '80'] = decodeURIComponent(target).split(':');
  return { namespace: decodeURIComponent(namespace), pod, port: Number(port), path: path + search };
}

/** Headers of the API server's own client, which it does not pass on. */
const OWN_HEADERS = ['authorization', 'host', 'connection'];

/** Resolves when the answer was passed on. Throws Status failures. */
export async function forwardToPod(
  find: FindPodPort,
  { namespace, pod, port, path }: ProxiedPath,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (message.method !== 'GET') throw methodNotAllowed();
  const local = find(namespace, pod, port);
  if (local === undefined) throw notFound(PODS, pod);
  const headers = Object.fromEntries(Object.entries(message.headers).filter(([name]) => !OWN_HEADERS.includes(name)));
  await new Promise<void>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: local, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? 'text/plain' });
      answer.pipe(response);
      answer.once('close', resolve);
    });
    sent.once('error', ({ message: says }) =>
      reject(apiError(503, 'ServiceUnavailable', `error trying to reach service: ${says}`, {})),
    );
    response.once('close', () => sent.destroy());
    sent.end();
  });
}
