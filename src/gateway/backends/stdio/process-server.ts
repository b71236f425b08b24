// Starts the process that many clients share, performs the handshake, and starts the process again when it ends.

import { Failure } from '#std/failure.ts';
import type { LinkHandlers } from '../link.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import { ended, type Greeted, greetInEra, type HandshakeParts, pingProcess } from './handshake.ts';
import type { ProcessLine } from './line.ts';
import { restartDelay } from './restart-delay.ts';

export interface ServerParts extends HandshakeParts {
  readonly open: (handlers: LinkHandlers) => Promise<ProcessLine>;
  readonly observer: BackendObserver;
  /**
   * Time without messages and ping answers after which the connection to the process is opened again. 0 means never.
   */
  readonly silentMs: number;
  readonly message: (bytes: Buffer) => void;
  /** Called when the connection to the process has ended. Requests in flight then get no response. */
  readonly lost: (detail: string) => void;
  /** Called after each handshake or reconnection. `another` is true if the process is another run than before. */
  readonly greeted: (server: Greeted, another: boolean) => void;
  readonly drain: () => void;
}

export interface ProcessServer {
  current(): Greeted | undefined;
  /** Starts the process if it does not run, and waits for the handshake. Rejects with a Failure. */
  acquire(): Promise<Greeted>;
  /** Returns whether the process answers in time. Rejects with a Failure if the process does not run. */
  ping(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

interface State {
  readonly parts: ServerParts;
  server: Greeted | undefined;
  starting: Promise<Greeted> | undefined;
  /** Last run of the process with a completed handshake. */
  last: Greeted | undefined;
  /** True if the process ended at `server/discover`. The handshake of its next run begins with `initialize`. */
  endsAtDiscover: boolean;
  attempts: number;
  /** Monotonic time of the earliest next start. */
  notBefore: number;
  startedAt: number;
  heardAt: number;
  pinged: boolean;
  /** Cancels the timer of the next start or of the next check for silence. */
  stopWaiting: () => void;
  closed: boolean;
}

export function createProcessServer(parts: ServerParts): ProcessServer {
  const state: State = {
    ...{ parts, server: undefined, starting: undefined, last: undefined, endsAtDiscover: false },
    ...{ attempts: 0, notBefore: 0, startedAt: 0, heardAt: 0, pinged: false, closed: false },
    stopWaiting: () => undefined,
  };
  return {
    current: () => state.server,
    acquire: () => acquireServer(state),
    async ping(timeoutMs) {
      const server = await acquireServer(state);
      const answered = await pingProcess(parts, server, timeoutMs);
      // If the connection has ended, the answer is the substitute `lostAnswer`, which must not count as an answer.
      return answered && state.server?.line === server.line;
    },
    async close() {
      state.closed = true;
      state.stopWaiting();
      const { server, starting } = state;
      state.server = undefined;
      await server?.line.close();
      await starting?.then(({ line }) => line.close()).catch(() => undefined);
    },
  };
}

/**
 * Maximum time for which a request waits for the next start. If the start is later, the client gets an error with the
 * seconds until a retry is useful.
 */
const SHORT_WAIT_MS = 2000;

async function acquireServer(state: State): Promise<Greeted> {
  const { parts, server } = state;
  if (server !== undefined) return server;
  if (state.closed) throw closing();
  const wait = state.notBefore - parts.clock.monotonic();
  if (wait > SHORT_WAIT_MS) {
    const data = { retryAfterSeconds: Math.ceil(wait / 1000) };
    throw new Failure('stdio-restarting', 'the MCP server ended, and is started again later', {
      data,
      retryable: true,
    });
  }
  return startServer(state);
}

function startServer(state: State): Promise<Greeted> {
  if (state.starting !== undefined) return state.starting;
  const starting = startAfter(state).finally(() => {
    state.starting = undefined;
  });
  state.starting = starting;
  return starting;
}

async function startAfter(state: State): Promise<Greeted> {
  const { clock, observer } = state.parts;
  const wait = state.notBefore - clock.monotonic();
  if (wait > 0) await pass(state, wait);
  if (state.closed) throw closing();
  try {
    return await greet(state);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    observer.log('warn', `the MCP server cannot be used: ${error.message}`);
    backOff(state);
    throw error;
  }
}

function pass(state: State, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = state.parts.clock.after(ms, resolve);
    state.stopWaiting = () => {
      cancel();
      resolve();
    };
  });
}

function closing(): Failure {
  return new Failure('stdio-closed', 'the proxy is shutting down', { retryable: true });
}

function backOff(state: State): void {
  const { clock } = state.parts;
  state.notBefore = clock.monotonic() + restartDelay(state.attempts, clock);
  state.attempts = Math.min(state.attempts + 1, 16);
}

async function greet(state: State): Promise<Greeted> {
  const { endsAtDiscover } = state;
  try {
    return await greetRun(state);
  } catch (error) {
    if (endsAtDiscover || !state.endsAtDiscover || state.closed) throw error;
    state.parts.observer.log(
      'info',
      'the MCP server ended at server/discover, so its handshake begins with initialize from now on',
    );
    return greetRun(state);
  }
}

async function greetRun(state: State): Promise<Greeted> {
  const { parts } = state;
  const lines: { line: ProcessLine | undefined; ended: string | undefined } = { line: undefined, ended: undefined };
  const line = await parts.open({
    message(bytes) {
      state.heardAt = parts.clock.monotonic();
      state.pinged = false;
      parts.message(bytes);
    },
    closed(detail) {
      lines.ended = detail;
      if (lines.line !== undefined) lose(state, lines.line, detail);
    },
    drain: parts.drain,
  });
  lines.line = line;
  state.startedAt = parts.clock.monotonic();
  const { last } = state;
  const same = last !== undefined && last.line.instance === line.instance;
  try {
    if (lines.ended !== undefined) throw ended(lines.ended);
    // Ends an incomplete line, so that its bytes do not become the beginning of the next line.
    if (same && last.line.unfinished()) line.sendLine(Buffer.from('\n'));
    const server = same ? { ...last, line } : await greetInEra(parts, state, line, () => lines.ended);
    if (lines.ended !== undefined) throw ended(lines.ended);
    establish(state, server, !same);
    return server;
  } catch (error) {
    void line.close();
    throw error;
  }
}

function establish(state: State, server: Greeted, another: boolean): void {
  const { parts } = state;
  state.server = server;
  state.last = server;
  state.heardAt = parts.clock.monotonic();
  if (parts.silentMs > 0) watchSilence(state, server);
  parts.greeted(server, another);
}

/** Running time after which the end of a process is not counted as a failed start. */
const STEADY_MS = 10_000;

function lose(state: State, line: ProcessLine, detail: string): void {
  const { parts } = state;
  if (state.closed) return;
  const current = state.server?.line === line;
  if (current) state.server = undefined;
  parts.observer.log('warn', `the line to the MCP server ended: ${detail}`);
  parts.lost(detail);
  if (!current) return;
  if (parts.clock.monotonic() - state.startedAt >= STEADY_MS) state.attempts = 0;
  else backOff(state);
  restart(state);
}

/** Starts the process, and repeats failed attempts without a limit, because clients wait. */
function restart(state: State): void {
  if (state.closed) return;
  startServer(state).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    restart(state);
  });
}

/** Detects an open connection that no longer works: the process answers no ping. */
function watchSilence(state: State, server: Greeted): void {
  const { clock, silentMs, observer } = state.parts;
  state.stopWaiting = clock.after(silentMs / 2, () => {
    if (state.server !== server) return;
    const silence = clock.monotonic() - state.heardAt;
    if (state.pinged && silence >= silentMs) {
      observer.log('warn', `the MCP server has not answered a ping for ${Math.round(silence / 1000)} s`);
      void server.line.close();
      lose(state, server.line, 'it does not answer');
      return;
    }
    if (silence >= silentMs / 2 && !state.pinged) {
      state.pinged = true;
      void pingProcess(state.parts, server, silentMs);
    }
    watchSilence(state, server);
  });
}
