// Logs a server's standard error, limited in length and number of lines.

import type { BackendClock } from '../ports.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import { createLineSplitter } from './line-splitter.ts';

const MAX_LINE_BYTES = 64 * 1024;
const SHOWN_BYTES = 2000;
/** Maximum number of logged lines per SPAN_MS. Additional lines are only counted. */
const LINES = 200;
const SPAN_MS = 10_000;

/** Returns a function that accepts chunks of standard error. */
export function createStderrLog(observer: BackendObserver, clock: BackendClock): (chunk: Buffer) => void {
  let since = clock.monotonic();
  let lines = 0;
  let splitter = openSplitter();

  function log(text: string): void {
    const now = clock.monotonic();
    if (now - since >= SPAN_MS) {
      if (lines > LINES) observer.log('info', `the MCP server wrote ${lines - LINES} more lines to stderr`);
      since = now;
      lines = 0;
    }
    lines += 1;
    if (lines <= LINES) observer.log('info', `stderr of the MCP server: ${text}`);
  }

  function openSplitter() {
    return createLineSplitter(MAX_LINE_BYTES, {
      line: (bytes) => log(bytes.toString('utf8', 0, SHOWN_BYTES)),
      tooLong() {
        log(`a line of more than ${MAX_LINE_BYTES} bytes`);
        splitter = openSplitter();
      },
    });
  }

  return (chunk) => splitter.push(chunk);
}
