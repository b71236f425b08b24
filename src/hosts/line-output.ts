// Writes lines to a file descriptor whose other side may fail: a full disk, a closed pipe, a pipe without a reader.

import { write as writeFile } from 'node:fs';
import type { Logger } from 'pino';
import { proxyClock } from './proxy/clock.ts';

export interface LineOutput {
  /** Keeps the lines until they are written. Beyond the bound of the buffer they are lost and counted. */
  write(lines: string): void;
  /** Resolves when all lines are written, or when they cannot be written in time. */
  close(): Promise<void>;
}

const BUFFER_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 500;
const CLOSE_MS = 2000;

interface State {
  readonly fd: number;
  readonly logger: Logger;
  chunks: Buffer[];
  bytes: number;
  writing: boolean;
  failed: boolean;
  lost: number;
  idle: () => void;
  /** The descriptor may be another file's by now. */
  closed: boolean;
}

export function openLineOutput(fd: number, logger: Logger): LineOutput {
  const state: State = {
    ...{
      fd,
      logger,
      chunks: [],
      bytes: 0,
      writing: false,
      failed: false,
      lost: 0,
      idle: () => undefined,
      closed: false,
    },
  };
  return {
    write(lines) {
      const chunk = Buffer.from(lines);
      if (state.bytes + chunk.length > BUFFER_BYTES) loseLines(state, lines);
      else {
        state.chunks.push(chunk);
        state.bytes += chunk.length;
        writeNext(state);
      }
    },
    async close() {
      await new Promise<void>((resolve) => {
        state.idle = resolve;
        proxyClock.after(CLOSE_MS, resolve);
        if (state.bytes === 0 || state.failed) resolve();
      });
      state.closed = true;
    },
  };
}

function loseLines(state: State, lines: string): void {
  if (state.lost === 0) state.logger.error('audit events are lost: the buffer is full');
  state.lost += lines.split('\n').length - 1;
}

function writeNext(state: State): void {
  if (state.writing || state.closed || state.bytes === 0) return;
  const next = Buffer.concat(state.chunks);
  state.chunks = [next];
  state.writing = true;
  writeFile(state.fd, next, 0, next.length, null, (error, written) => {
    if (error === null) advance(state, next, written);
    else retryLater(state, error);
  });
}

function advance(state: State, next: Buffer, written: number): void {
  state.writing = false;
  state.bytes -= written;
  state.chunks[0] = next.subarray(written);
  if (state.bytes > 0) {
    writeNext(state);
    return;
  }
  state.chunks = [];
  if (state.failed || state.lost > 0) {
    state.logger.warn({ lost: state.lost }, 'audit events are written again');
    state.failed = false;
    state.lost = 0;
  }
  state.idle();
}

/** The next attempt may succeed: there is room again, or a reader. */
function retryLater(state: State, error: NodeJS.ErrnoException): void {
  // A pipe that is full for the moment is not a failure.
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
