// Writes lines to a file descriptor that may fail: a full disk, a closed pipe, a pipe without a reader. Callers do not
// wait for their lines. Lines that cannot be written are buffered; if the buffer is full, further lines are lost.

import { write as writeFile } from 'node:fs';
import type { Logger } from 'pino';
import { proxyClock } from './proxy/clock.ts';

export interface LineOutput {
  /** Adds lines to the buffer. If the buffer is full, the lines are lost and counted. */
  write(lines: string): void;
  /** Returns true after a failed write or a lost line, until all buffered lines are written. */
  fails(): boolean;
  /** Resolves after all lines are written, after a failed write, or after CLOSE_MS. */
  close(): Promise<void>;
}

const BUFFER_BYTES = 4 * 1024 * 1024;
/** Size up to which buffered lines are joined into one write. */
const WRITE_BYTES = 64 * 1024;
const RETRY_MS = 500;
const CLOSE_MS = 2000;

interface State {
  readonly fd: number;
  readonly logger: Logger;
  readonly waiting: Buffer[];
  bytes: number;
  writing: boolean;
  failed: boolean;
  lost: number;
  idle: () => void;
  /** If true, no more lines are written, because the descriptor may belong to another file. */
  closed: boolean;
}

export function openLineOutput(fd: number, logger: Logger): LineOutput {
  const none = { bytes: 0, writing: false, failed: false, lost: 0, closed: false };
  const state: State = { fd, logger, waiting: [], idle: () => undefined, ...none };
  return {
    write(lines) {
      const chunk = Buffer.from(lines);
      if (state.bytes + chunk.length > BUFFER_BYTES) {
        loseLines(state, lines);
        return;
      }
      state.waiting.push(chunk);
      state.bytes += chunk.length;
      writeNext(state);
    },
    fails: () => state.failed || state.lost > 0,
    async close() {
      await new Promise<void>((resolve) => {
        // Only this timer keeps the process alive now. Timers of `proxyClock` do not.
        const late = setTimeout(resolve, CLOSE_MS);
        state.idle = () => {
          clearTimeout(late);
          resolve();
        };
        if (state.bytes === 0 || state.failed) state.idle();
      });
      state.closed = true;
    },
  };
}

function loseLines(state: State, lines: string): void {
  if (state.lost === 0) state.logger.error({ code: 'audit-lines-lost' }, 'audit events are lost: the buffer is full');
  state.lost += lines.split('\n').length - 1;
}

function writeNext(state: State): void {
  if (state.writing || state.closed || state.bytes === 0) return;
  const next = takeChunk(state.waiting);
  state.writing = true;
  writeFile(state.fd, next, 0, next.length, null, (error, written) => {
    if (error === null) advance(state, next, written);
    else retryLater(state, next, error);
  });
}

/** Removes lines from the buffer, and returns them joined. */
function takeChunk(waiting: Buffer[]): Buffer {
  let count = 0;
  for (let size = 0; count < waiting.length && size < WRITE_BYTES; count += 1) size += waiting[count]?.length ?? 0;
  return Buffer.concat(waiting.splice(0, count));
}

function advance(state: State, chunk: Buffer, written: number): void {
  state.writing = false;
  state.bytes -= written;
  if (written < chunk.length) state.waiting.unshift(chunk.subarray(written));
  if (state.bytes > 0) {
    writeNext(state);
    return;
  }
  if (state.failed || state.lost > 0) {
    state.logger.warn({ lost: state.lost }, 'audit events are written again');
    state.failed = false;
    state.lost = 0;
  }
  state.idle();
}

/** Retries the write later, when the disk may have space or the pipe a reader. */
function retryLater(state: State, chunk: Buffer, error: NodeJS.ErrnoException): void {
  state.waiting.unshift(chunk);
  // EAGAIN means that the pipe is full at the moment, which is not a failure.
  if (!state.failed && error.code !== 'EAGAIN') {
    state.failed = true;
    state.logger.error({ reason: error.message }, 'audit events cannot be written, and are kept up to 4 MiB');
  }
  if (state.failed) state.idle();
  proxyClock.after(RETRY_MS, () => {
    state.writing = false;
    writeNext(state);
  });
}
