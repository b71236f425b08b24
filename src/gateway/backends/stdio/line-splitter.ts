// Splits a stream of bytes into lines.

export interface LineHandlers {
  /**
   * Handles a line without its line end. Empty lines are skipped. The bytes may share memory with a chunk of `push`.
   */
  line(bytes: Buffer): void;
  /** Reports a line that is too long. Afterwards the splitter ignores all bytes and calls no handler. */
  tooLong(): void;
}

export interface LineSplitter {
  /** Adds a chunk. The caller must not change the chunk afterwards. */
  push(chunk: Buffer): void;
  /** Stops calling `line` until `release`, even for lines of earlier chunks. */
  hold(): void;
  /** Calls `line` for the lines that `hold` stopped. Returns false if a handler called `hold` again. */
  release(): boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);
const FIRST_CAPACITY = 4096;

interface State {
  readonly maxBytes: number;
  readonly handlers: LineHandlers;
  /**
   * Beginning of an unfinished line. The buffer doubles when it is full, so that many small chunks cost no more than
   * one large chunk.
   */
  rest: Buffer;
  length: number;
  held: boolean;
  waiting: Buffer[];
  closed: boolean;
}

export function createLineSplitter(maxBytes: number, handlers: LineHandlers): LineSplitter {
  const state: State = { maxBytes, handlers, rest: EMPTY, length: 0, held: false, waiting: [], closed: false };
  return {
    push(chunk) {
      if (state.held) state.waiting.push(chunk);
      else split(state, chunk);
    },
    hold() {
      state.held = true;
    },
    release() {
      state.held = false;
      while (!state.held) {
        const chunk = state.waiting.shift();
        if (chunk === undefined) return true;
        split(state, chunk);
      }
      return false;
    },
  };
}

function split(state: State, chunk: Buffer): void {
  let from = 0;
  let end = chunk.indexOf(LF);
  while (!state.closed && end >= 0) {
    emit(state, chunk, from, end);
    from = end + 1;
    if (state.held) {
      if (from < chunk.length) state.waiting.unshift(chunk.subarray(from));
      return;
    }
    end = chunk.indexOf(LF, from);
  }
  if (!state.closed && from < chunk.length) keepPart(state, chunk, from, chunk.length);
}

function emit(state: State, chunk: Buffer, from: number, end: number): void {
  if (state.length > 0) keepPart(state, chunk, from, end);
  else if (end - from > state.maxBytes) refuseLine(state);
  if (state.closed) return;
  const line = state.length > 0 ? state.rest.subarray(0, state.length) : chunk.subarray(from, end);
  state.rest = EMPTY;
  state.length = 0;
  const whole = line[line.length - 1] === CR ? line.subarray(0, -1) : line;
  if (whole.length > 0) state.handlers.line(whole);
}

function keepPart(state: State, chunk: Buffer, from: number, to: number): void {
  const length = state.length + to - from;
  if (length > state.maxBytes) {
    refuseLine(state);
    return;
  }
  if (length > state.rest.length) {
    const capacity = Math.min(state.maxBytes, Math.max(length, 2 * state.rest.length, FIRST_CAPACITY));
    const grown = Buffer.allocUnsafeSlow(capacity);
    state.rest.copy(grown, 0, 0, state.length);
    state.rest = grown;
  }
  chunk.copy(state.rest, state.length, from, to);
  state.length = length;
}

function refuseLine(state: State): void {
  state.closed = true;
  state.rest = EMPTY;
  state.length = 0;
  state.waiting = [];
  state.handlers.tooLong();
}
