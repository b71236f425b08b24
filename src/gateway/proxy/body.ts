// Reads the body of a request within a bound, with as few copies as possible.

import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly reason: 'too-large' | 'closed' };

const EMPTY = Buffer.alloc(0);

/** Reads the body and calls `done` once. Does not store bytes beyond the bound. */
export function readBody(request: IncomingMessage, limitBytes: number, done: (body: Body) => void): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limitBytes) {
    done({ ok: false, reason: 'too-large' });
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let ended = false;

  function finish(body: Body): void {
    if (ended) return;
    ended = true;
    done(body);
  }

  request.on('data', (chunk: Buffer) => {
    if (ended) return;
    size += chunk.length;
    if (size > limitBytes) return finish({ ok: false, reason: 'too-large' });
    if (first === undefined) first = chunk;
    else {
      more ??= [first];
      more.push(chunk);
    }
  });
  request.on('end', () => {
    finish({ ok: true, bytes: more === undefined ? (first ?? EMPTY) : Buffer.concat(more, size) });
  });
  request.on('close', () => finish({ ok: false, reason: 'closed' }));
}
