// Serves a stdio server as a backend with one process for each session. A process is never used by two sessions. All
// requests of the stateless era share one process.

import { scanMessage } from '../../wire/scan.ts';
import type { Backend, Era, Exchange, Probe } from '../backend.ts';
import type { LinkHandlers } from '../link.ts';
import type { BackendClock, Processes } from '../ports.ts';
import type { SessionLimits } from '../sessions/limits.ts';
import type { SessionHandlers, SessionLink, WaitingClient } from '../sessions/link.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import { createSessionBackend } from '../sessions/sessions.ts';
import { otherEra } from './handshake.ts';
import { MAX_LINE_BYTES, type ProcessLine } from './line.ts';
import { createPool, type Pool } from './pool.ts';
import type { ClientInfo } from './protocol.ts';
import { createSharedLines, type SharedLines } from './shared-lines.ts';
import { type Spare, takeSpare } from './spare.ts';

export interface PerSessionStdioParts {
  /** Processes with indices from 0. */
  readonly processes: Processes;
  readonly pods: number;
  readonly clock: BackendClock;
  readonly observer: BackendObserver;
  readonly replica: string;
  /** Name of the gateway in the request that detects the era of a process. */
  readonly clientInfo?: ClientInfo;
  readonly limits?: Partial<SessionLimits>;
  readonly maxLineBytes?: number;
}

const DISCOVER_MS = 4000;
const CLIENT_INFO: ClientInfo = { name: 'proxy', version: '1' };

interface State {
  readonly parts: PerSessionStdioParts;
  readonly pool: Pool;
  /** Era of the processes. undefined while unknown. */
  era: Era | undefined;
  /** Process whose era was detected and that no session has used yet. */
  spare: Spare | undefined;
  asking: Promise<Era> | undefined;
  /** Process that serves the requests of the stateless era. */
  readonly stateless: SharedLines;
}

export function createPerSessionStdio(parts: PerSessionStdioParts): Backend {
  const { processes, observer, clock, maxLineBytes = MAX_LINE_BYTES } = parts;
  const pool = createPool({ processes, observer, clock, maxLineBytes }, parts.pods);
  const take = (handlers: LinkHandlers): Promise<ProcessLine> => takeProcess(state, handlers);
  const clientInfo = parts.clientInfo ?? CLIENT_INFO;
  const stateless = createSharedLines({ ...parts, clientInfo, open: take, statelessOnly: true });
  const state: State = { parts, pool, era: undefined, spare: undefined, asking: undefined, stateless };
  return createSessionBackend({
    ...{ replica: parts.replica, clock, observer, limits: parts.limits },
    open: (_, handlers, client) => openProcess(state, handlers, client),
    openRequest: (exchange, handlers) => openRequest(state, exchange, handlers),
    eras: () => (state.era === undefined ? undefined : new Set([state.era])),
    probe: () => probePool(state),
    async close() {
      await Promise.all([stateless.close(), state.spare?.line.close()]);
    },
  });
}

/** Takes a process that has received no message, except perhaps the request that detects its era. */
async function takeProcess(state: State, handlers: LinkHandlers, client?: WaitingClient): Promise<ProcessLine> {
  const { spare, pool } = state;
  state.spare = undefined;
  if (spare === undefined || spare.ended() !== undefined) return pool.take(handlers, client);
  spare.use(handlers);
  return spare.line;
}

/** Opens a process for a session. The first response of the process answers `initialize`. */
async function openProcess(state: State, handlers: SessionHandlers, client: WaitingClient): Promise<SessionLink> {
  if (state.era === 'stateless') throw otherEra(state.era);
  let answered = false;
  const line: LinkHandlers = {
    message(bytes) {
      const scanned = answered ? undefined : scanMessage(bytes);
      if (scanned?.ok === true && scanned.message.kind === 'response') {
        answered = true;
        state.era = scanned.message.result === undefined ? undefined : 'session';
      }
      handlers.message(bytes);
    },
    drain: handlers.drain,
    closed(detail) {
      // The process that was used for the detection may have ended for another reason than its era, so the era is
      // unknown again.
      if (!answered) state.era = undefined;
      handlers.closed(detail);
    },
  };
  return takeProcess(state, line, client);
}

async function openRequest(state: State, exchange: Exchange, handlers: SessionHandlers): Promise<SessionLink> {
  const era = state.era ?? (await askEra(state));
  if (era === 'session') throw otherEra(era);
  return state.stateless.open(era, exchange, handlers);
}

/** Detects the era. Concurrent requests share one detection. */
function askEra(state: State): Promise<Era> {
  state.asking ??= ask().finally(() => {
    state.asking = undefined;
  });
  return state.asking;

  async function ask(): Promise<Era> {
    const { clock, replica, clientInfo = CLIENT_INFO } = state.parts;
    const id = `${replica}.era`;
    const spare = await takeSpare({ take: state.pool.take, clock, clientInfo, id, discoverMs: DISCOVER_MS });
    if (spare.ended() === undefined) state.spare = spare;
    state.era = spare.era;
    return spare.era;
  }
}

/** Checks whether a process runs. The process stays available for a session. */
async function probePool({ pool, era, stateless, parts: { clock } }: State): Promise<Probe> {
  if (era === 'stateless') return stateless.probe();
  const began = clock.monotonic();
  try {
    await pool.check();
    return { available: true, responseTimeMs: Math.round(clock.monotonic() - began) };
  } catch (error) {
    return { available: false, error: error instanceof Error ? error.message : String(error) };
  }
}
