// Opens a line for messages over the standard streams of a server. Each message is one line of text (MCP specification,
// stdio).

import type { Link, LinkHandlers } from '../link.ts';
import type { BackendClock, OpenStreams, Streams } from '../ports.ts';
import { createUtf8Repair } from '../repair-utf8.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import { createLineSplitter } from './line-splitter.ts';
import { createStderrLog } from './stderr.ts';

/** `Link` that also identifies the run of the process. */
export interface ProcessLine extends Link {
  readonly instance: string;
  /** Sends bytes that are already a whole line. */
  sendLine(line: Buffer): boolean;
  /** Returns true if too many bytes wait for the process. */
  congested(): boolean;
  /** Returns true if the process may have received an incomplete line. */
  unfinished(): boolean;
}

export interface LineParts {
  readonly openStreams: OpenStreams;
  readonly observer: BackendObserver;
  readonly clock: BackendClock;
  /** Maximum length of a line of text. A longer line of text closes the connection to the process. */
  readonly maxLineBytes: number;
}

export const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Number of waiting bytes above which `send` writes at once, or returns false while the process does not read. */
const MAX_WAITING = 1024 * 1024;
const SHOWN_BYTES = 200;

interface State {
  readonly parts: LineParts;
  readonly handlers: LinkHandlers;
  streams: Streams | undefined;
  blocked: boolean;
  /** Messages that are written together: at the end of this turn of the event loop, or when the process reads again. */
  waiting: Buffer[];
  waitingBytes: number;
  /** True if `send` has returned false since the last `drain`. */
  refused: boolean;
  over: boolean;
  readonly repair: (message: Buffer) => Buffer;
}

/** Opens the line to the process with this index. Rejects with a Failure. */
export async function openLine(parts: LineParts, index: number, handlers: LinkHandlers): Promise<ProcessLine> {
  const state: State = {
    ...{ parts, handlers, streams: undefined, blocked: false, waiting: [], waitingBytes: 0 },
    ...{ refused: false, over: false, repair: createUtf8Repair(parts.observer) },
  };
  const splitter = createLineSplitter(parts.maxLineBytes, {
    line: (bytes) => receiveLine(state, bytes),
    tooLong: () => end(state, `the MCP server wrote a line of more than ${parts.maxLineBytes} bytes`),
  });
  const streams = await parts.openStreams(index, {
    stdout: splitter.push,
    stderr: createStderrLog(parts.observer, parts.clock),
    drain: () => flush(state),
    closed: (detail) => end(state, detail),
  });
  state.streams = streams;
  if (state.over) void streams.close();
  return {
    instance: streams.instance,
    congested: () => state.refused,
    unfinished: () => state.blocked,
    send: (message) => writeLine(state, lineOf([message])),
    sendLine: (line) => writeLine(state, line),
    pause() {
      splitter.hold();
      streams.pause();
    },
    resume() {
      if (splitter.release()) streams.resume();
    },
    close() {
      if (!state.blocked) flush(state);
      state.over = true;
      return streams.close();
    },
  };
}

const OPEN_BRACE = 0x7b;
const SPACE = 0x20;

/** Handles a line of text. Only JSON objects are messages. Other text on standard output is for people. */
function receiveLine(state: State, line: Buffer): void {
  const { observer } = state.parts;
  if (state.over) return;
  let at = 0;
  while (at < line.length && (line[at] ?? 0) <= SPACE) at += 1;
  if (line[at] === OPEN_BRACE) {
    receiveMessage(state, line);
    return;
  }
  observer.dropped('unreadable');
  observer.log('debug', `the MCP server wrote a line that is not a message: ${line.toString('utf8', 0, SHOWN_BYTES)}`);
}

function receiveMessage(state: State, line: Buffer): void {
  const { maxLineBytes } = state.parts;
  const message = state.repair(line);
  // The repair may lengthen a message, because U+FFFD has three bytes.
  if (message.length > maxLineBytes) end(state, `the MCP server wrote a line of more than ${maxLineBytes} bytes`);
  else state.handlers.message(message);
}

function end(state: State, detail: string): void {
  if (state.over) return;
  state.over = true;
  state.waiting = [];
  void state.streams?.close();
  state.handlers.closed(detail);
}

function writeLine(state: State, line: Buffer): boolean {
  if (state.over || state.streams === undefined) return true;
  if (!state.blocked && state.waiting.length === 0) setImmediate(() => state.blocked || flush(state));
  state.waiting.push(line);
  state.waitingBytes += line.length;
  if (state.waitingBytes <= MAX_WAITING) return true;
  if (state.blocked) {
    state.refused = true;
    return false;
  }
  flush(state);
  return true;
}

function flush(state: State): void {
  state.blocked = false;
  const waiting = state.waiting;
  state.waiting = [];
  state.waitingBytes = 0;
  const [only, ...more] = waiting;
  if (only !== undefined && !state.over) {
    state.blocked = state.streams?.write(more.length === 0 ? only : Buffer.concat(waiting)) === false;
  }
  if (!state.refused) return;
  state.refused = false;
  state.handlers.drain();
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Joins the pieces into one line. Replaces line breaks by spaces, because JSON allows raw line breaks only between
 * tokens.
 */
export function lineOf(parts: readonly Buffer[]): Buffer {
  let length = 1;
  for (const part of parts) length += part.length;
  const line = Buffer.allocUnsafe(length);
  let at = 0;
  for (const part of parts) at += part.copy(line, at);
  blank(line, LF, at);
  blank(line, CR, at);
  line[at] = LF;
  return line;
}

function blank(line: Buffer, byte: number, end: number): void {
  let at = line.indexOf(byte);
  while (at >= 0 && at < end) {
    line[at] = SPACE;
    at = line.indexOf(byte, at + 1);
  }
}
