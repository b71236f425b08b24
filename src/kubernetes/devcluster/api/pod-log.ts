// Serves `pods/log`: the printed lines of a container and, with `follow`, new lines until the container ends.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ContainerName } from '../attach/containers.ts';
import type { ContainerLog, LogLine } from '../node/log.ts';
import type { ApiContext } from './context.ts';
import { containerOf } from './pod-container.ts';
import { isTrue, type ResourcePath } from './route.ts';
import { badRequest, methodNotAllowed, notFound } from './status.ts';

/** Returns undefined if no node of this process runs the container. */
export type FindLog = (name: ContainerName) => ContainerLog | undefined;

const PODS = { group: '', plural: 'pods', kind: 'Pod' };
/**
 * Maximum of unread bytes. If a client exceeds it, the server closes the connection. The client may send the request
 * again.
 */
const BACKLOG_BYTES = 16 * 1024 * 1024;

/** Resolves when the response is complete. Throws Failures with a Status. */
export async function sendLog(
  { store, now }: ApiContext,
  find: FindLog,
  { namespace = '', name = '' }: ResourcePath,
  { searchParams: query }: URL,
  { method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET') throw methodNotAllowed();
  const pod = store.get({ collection: '/pods', namespace, name });
  if (pod === undefined) throw notFound(PODS, name);
  const container = containerOf(pod, query.get('container') ?? '');
  const log = find({ namespace, pod: name, container });
  if (log === undefined) {
    throw badRequest(`container ${JSON.stringify(container)} in pod ${JSON.stringify(name)} does not run on any node`);
  }
  const ofPrevious = isTrue(query.get('previous'));
  if (ofPrevious && !log.hasPrevious()) {
    throw badRequest(
      `previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(name)} not found`,
    );
  }
  const select = readSelection(query, now());
  const write = lineWriter(response, isTrue(query.get('timestamps')), select.limitBytes);
  response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  const lines = log.lines(ofPrevious).filter(({ at }) => at >= select.since);
  for (const line of select.tail === undefined
    ? lines
    : lines.slice(lines.length - Math.min(select.tail, lines.length))) {
    write(line);
  }
  if (isTrue(query.get('follow')) && !ofPrevious && log.isOpen()) await untilEnded(log, response, write);
  response.end();
}

interface Selection {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly tail: number | undefined;
  readonly limitBytes: number;
}

function readSelection(query: URLSearchParams, now: number): Selection {
  const seconds = numberOf(query, 'sinceSeconds');
  const time = query.get('sinceTime');
  const given = time === null ? 0 : Date.parse(time);
  if (Number.isNaN(given)) throw badRequest(`sinceTime: ${JSON.stringify(time)} is not a time`);
  return {
    since: seconds === undefined ? given : now - 1000 * seconds,
    tail: numberOf(query, 'tailLines'),
    limitBytes: numberOf(query, 'limitBytes') ?? Number.POSITIVE_INFINITY,
  };
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,12}$/.test(text)) throw badRequest(`${name}: ${JSON.stringify(text)} is not a number from 0 on`);
  return Number(text);
}

function lineWriter(response: ServerResponse, timed: boolean, limitBytes: number): (line: LogLine) => void {
  let left = limitBytes;
  return ({ at, text }) => {
    const line = Buffer.from(`${timed ? `${new Date(at).toISOString()} ` : ''}${text}\n`);
    const part = line.subarray(0, Math.min(left, line.length));
    left -= part.length;
    if (part.length > 0 && !response.destroyed) response.write(part);
    if (response.writableLength > BACKLOG_BYTES) response.destroy();
  };
}

function untilEnded(log: ContainerLog, response: ServerResponse, write: (line: LogLine) => void): Promise<void> {
  return new Promise((resolve) => {
    const stop = log.follow(write, end);
    function end(): void {
      stop();
      resolve();
    }
    response.once('close', end);
  });
}
