// Writes a watch to its connection: one JSON object per line, until the client disconnects or the time limit is
// reached.

import type { ServerResponse } from 'node:http';
import type { KubeObject } from '../../rules/object.ts';
import type { ApiContext } from '../api/context.ts';
import type { ApiRequest } from '../api/request.ts';
import { openWatch, type WatchEvent } from '../api/watch.ts';
import type { Representation } from './accept.ts';
import { renderObject } from './render.ts';

/** Roughly the interval of a real API server. */
const BOOKMARK_EVERY_MS = 60_000;
/** Duration of a watch without a requested timeout. A real API server ends such watches after 30 to 60 minutes. */
const LONGEST_MS = 1_800_000;
/** Maximum of unsent bytes. Slower clients are disconnected to limit memory. */
const BACKLOG_LIMIT_BYTES = 64 * 1024 * 1024;

/** Resolves when the watch has ended. */
export function streamWatch(
  context: ApiContext,
  request: ApiRequest,
  representation: Representation,
  response: ServerResponse,
): Promise<void> {
  const watch = openWatch(context, request);
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  let first = true;
  const emit = (event: WatchEvent): void => {
    if (response.destroyed) return;
    const object = renderEvent(context, request, representation, event, first);
    first = false;
    response.write(`${JSON.stringify({ type: event.type, object })}\n`);
    if (response.writableLength > BACKLOG_LIMIT_BYTES) response.destroy();
    if (event.type === 'ERROR') response.end();
  };
  return new Promise((resolve) => {
    const stop = watch.start(emit);
    const mark = (): void => {
      const bookmark = watch.bookmark();
      if (bookmark !== undefined && !response.writableEnded) emit(bookmark);
    };
    const marks = setInterval(mark, BOOKMARK_EVERY_MS);
    const end = setTimeout(() => {
      mark();
      response.end();
    }, watch.timeoutMs ?? LONGEST_MS);
    response.on('close', () => {
      clearInterval(marks);
      clearTimeout(end);
      stop();
      resolve();
    });
  });
}

/** Renders an event. Only the first table of a watch contains the column definitions. */
function renderEvent(
  context: ApiContext,
  request: ApiRequest,
  representation: Representation,
  event: WatchEvent,
  first: boolean,
) {
  if (event.type === 'ERROR') return event.object;
  if (event.type === 'BOOKMARK' && representation.form === 'object') return event.object;
  const rendered = renderObject(request.type, event.object as KubeObject, representation.form, context.now(), request);
  if (representation.form !== 'table') return rendered;
  if (event.type === 'BOOKMARK') return { ...rendered, columnDefinitions: null, rows: [] };
  return first ? rendered : { ...rendered, columnDefinitions: null };
}
