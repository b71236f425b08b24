// Wraps a server that sleeps while no client uses it. Stops the server after a time without calls, and holds the next
// call until the server has started again.

import { answerThen } from '../answer-then.ts';
import type { Answer, Backend, BackendFault, Exchange, Flow, Probe } from '../backend.ts';
import { createLaterFlow, NO_FLOW } from '../bridge/context.ts';
import { answerEmpty, answerJson } from '../sessions/errors.ts';
import { watchIdle } from './fall-asleep.ts';
import type { SleepParts } from './ports.ts';
import { createWaitingAnswer, progressRequest } from './progress.ts';
import { noteUse, type SleepState } from './state.ts';
import { createWaker, type Settle, type Waker } from './wake.ts';

export interface SleepingBackend extends Backend {
  isAwake(): boolean;
  /**
   * Starts the server, if it sleeps, before a call that needs several exchanges. Calls `settle` once; the returned
   * function ends the wait without a call of `settle`.
   */
  wake(settle: Settle): () => void;
  /** Opens an exchange that belongs to no client. The exchange neither starts the server nor keeps the server awake. */
  openAside: Backend['open'];
  /** Counts an opened (1) or closed (-1) stream of a client to which no exchange belongs. */
  noteStream(change: 1 | -1): void;
  /** From now on, does not stop an idle server, because the proxy stops. */
  drain(): void;
}

/** Creates the backend. `first` is the running server, or undefined if the server is asleep. */
export function createSleepingBackend(parts: SleepParts, first: Backend | undefined): SleepingBackend {
  const { clock } = parts;
  const state: SleepState = {
    ...{
      parts,
      inUse: 0,
      usedAt: clock.monotonic(),
      eras: undefined,
      stopped: false,
      answered: first === undefined,
      reported: undefined,
    },
    phase: first === undefined ? { name: 'asleep' } : { name: 'awake', backend: first },
    stopTimer: () => undefined,
  };
  const waker = createWaker(state);
  return {
    open: (exchange, answer) => openInPhase(state, waker, exchange, answer),
    openAside(exchange, answer) {
      if (state.phase.name === 'awake') return state.phase.backend.open(exchange, answer);
      answer.fail(ASLEEP);
      return NO_FLOW;
    },
    eras() {
      if (state.phase.name === 'awake') state.eras = state.phase.backend.eras() ?? state.eras;
      return state.eras;
    },
    probe: () => probeServer(state),
    isAwake: () => state.phase.name === 'awake',
    wake: (settle) => wakeFor(state, waker, settle),
    noteStream: (change) => noteUse(state, change),
    drain() {
      state.stopped = true;
      state.stopTimer();
    },
    async close(graceMs) {
      state.stopped = true;
      state.stopTimer();
      waker.close();
      if (state.phase.name === 'awake') await state.phase.backend.close(graceMs);
    },
  };
}

const ASLEEP: BackendFault = { reason: 'unreachable', message: 'the MCP server is asleep' };

function openInPhase(state: SleepState, waker: Waker, exchange: Exchange, answer: Answer): Flow {
  const { phase } = state;
  switch (phase.name) {
    case 'awake':
      return isCheck(exchange)
        ? phase.backend.open(exchange, answer)
        : openCounted(state, phase.backend, exchange, answer);
    case 'falling': {
      const later = createLaterFlow();
      void phase.settled.then(() => {
        if (!later.aborted()) later.begin(openInPhase(state, waker, exchange, answer));
      });
      return later;
    }
    default:
      return answerAsleep(exchange, answer) ? NO_FLOW : holdCall(state, waker, exchange, answer);
  }
}

function openCounted(state: SleepState, backend: Backend, exchange: Exchange, answer: Answer): Flow {
  noteUse(state, 1);
  let isOver = false;
  function end(): void {
    if (isOver) return;
    isOver = true;
    noteUse(state, -1);
  }
  const flow = backend.open(exchange, answerThen(answer, end));
  return {
    resume: flow.resume,
    abort() {
      flow.abort();
      end();
    },
  };
}

/** Id of the requests with which gateways check whether a server is available. */
const CHECK_ID = '"skep-probe"';

/** Returns whether the message only checks the server. Such a message neither starts the server nor keeps it awake. */
function isCheck({ message }: Exchange): boolean {
  if (message?.kind !== 'request') return false;
  return message.method === 'ping' || (message.method === 'server/discover' && message.id.json === CHECK_ID);
}

/**
 * Answers an exchange that does not need the server. All sessions ended when the server stopped, so an exchange in a
 * session fails and its client begins a new session. Returns false if the server has to start.
 */
function answerAsleep(exchange: Exchange, answer: Answer): boolean {
  const { method, session, message } = exchange;
  if (session !== undefined) {
    if (method === 'DELETE') answerEmpty(answer, 204);
    else answer.fail({ reason: 'session-unknown', message: 'Session not found' });
    return true;
  }
  if (message?.kind === 'notification' || message?.kind === 'response') {
    answerEmpty(answer, 202);
    return true;
  }
  if (message === undefined || !isCheck(exchange)) return false;
  answerJson(answer, 200, Buffer.from(`{"jsonrpc":"2.0","id":${message.id?.json ?? 'null'},"result":{}}`));
  return true;
}

function holdCall(state: SleepState, waker: Waker, exchange: Exchange, answer: Answer): Flow {
  const { clock, times } = state.parts;
  const later = createLaterFlow();
  const message = progressRequest(exchange);
  const waiting =
    message === undefined ? undefined : createWaitingAnswer(message, answer, { clock, limitMs: times.wakeMs });
  const leave = waker.wait((fault) => {
    const server = waiting?.forServer() ?? answer;
    if (fault !== undefined) server.fail(fault);
    else later.begin(openInPhase(state, waker, exchange, server));
  });
  return {
    resume: later.resume,
    abort() {
      waiting?.forServer();
      leave();
      later.abort();
    },
  };
}

function wakeFor(state: SleepState, waker: Waker, settle: Settle): () => void {
  const { phase } = state;
  if (phase.name !== 'awake' && phase.name !== 'falling') return waker.wait(settle);
  let hasLeft = false;
  let leave = (): void => undefined;
  const isSettled = phase.name === 'falling' ? phase.settled : Promise.resolve();
  void isSettled.then(() => {
    if (hasLeft) return;
    if (state.phase.name === 'awake') settle(undefined);
    else leave = wakeFor(state, waker, settle);
  });
  return () => {
    hasLeft = true;
    leave();
  };
}

async function probeServer(state: SleepState): Promise<Probe> {
  const { phase } = state;
  if (phase.name === 'failed') return { available: false, error: phase.reason };
  if (phase.name !== 'awake') return { available: true, isAsleep: true };
  const probe = await phase.backend.probe();
  if (state.phase !== phase) return probe;
  if (probe.available) {
    if (!state.answered) beginIdleness(state);
    return probe;
  }
  return (await fellAsleepBy(state, phase.backend)) ? { available: true, isAsleep: true } : probe;
}

/**
 * Begins to watch for idleness after the server's first answer. A server that has never answered is not stopped, so
 * that its failure to start stays visible.
 */
function beginIdleness(state: SleepState): void {
  state.answered = true;
  state.usedAt = Math.max(state.usedAt, state.parts.clock.monotonic());
  watchIdle(state);
}

/**
 * Returns true, and treats the server as asleep, if another program or an earlier proxy has set the number of pods to
 * 0. If the number cannot be read, the failed probe is the better report.
 */
async function fellAsleepBy(state: SleepState, backend: Backend): Promise<boolean> {
  const count = await state.parts.scale.read().catch(() => undefined);
  if (count?.declared !== 0 || state.phase.name !== 'awake' || state.phase.backend !== backend) return false;
  state.stopTimer();
  state.phase = { name: 'asleep' };
  state.parts.observer.fellAsleep();
  state.parts.observer.log('info', 'the MCP server sleeps: its number of pods was set to 0. The next call starts it');
  void backend.close(0);
  return true;
}
