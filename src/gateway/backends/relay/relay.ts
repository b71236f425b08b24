// Hands an exchange over to the replica that has its session, and returns the answer.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { Answer, BackendFault, Flow } from '../backend.ts';
import type { BackendClock } from '../ports.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import { createFrameCodec, type Frame } from './frame.ts';
import type { Channel, RelayRequest, RelayService } from './ports.ts';
import { repeat } from './repeat.ts';
import { createServed } from './served.ts';

export interface Relay {
  /** Name of this replica, without dots. */
  readonly replica: string;
  serve(service: string, handle: RelayService): void;
  /**
   * Calls a service of a replica. If the replica no longer runs, its sessions are lost and the answer fails with
   * `session-unknown`.
   */
  call(replica: string, service: string, request: RelayRequest, answer: Answer): Flow;
  close(): Promise<void>;
}

export interface RelayParts {
  readonly channel: Channel;
  readonly clock: BackendClock;
  readonly observer: BackendObserver;
  readonly replica: string;
  /** Prefix of every topic. */
  readonly prefix: string;
  /** Keys that seal sessions. All replicas have the same keys. */
  readonly secrets: readonly Buffer[];
}

/** Time without a frame after which a call fails. The serving replica sends a frame every few seconds. */
const SILENT_MS = 20_000;

const EMPTY = Buffer.alloc(0);

/** Opens the relay. Rejects with a Failure if the store is unreachable. */
export async function openRelay(parts: RelayParts): Promise<Relay> {
  const { channel, clock, observer, replica, prefix } = parts;
  const codec = createFrameCodec(parts.secrets, clock.random);
  const waiting = new Map<string, Waiting>();
  let calls = 0;

  function post(to: string, frame: Frame, unheard: (reachable: boolean) => void): void {
    channel.publish(`${prefix}relay:${to}`, codec.encode(frame)).then(
      (heard) => {
        if (!heard) unheard(true);
      },
      (error: unknown) => {
        observer.log('warn', `the store of sessions cannot be reached: ${String(error)}`);
        unheard(false);
      },
    );
  }

  const served = createServed(clock, post);

  function receive(bytes: Buffer): void {
    const frame = codec.decode(bytes);
    if (frame === undefined) {
      observer.dropped('unreadable');
      return;
    }
    const { head, body } = frame;
    if (typeof head.call !== 'string') return;
    if (typeof head.from === 'string') served.take(head.from, head.call, frame);
    else takeReply(waiting.get(head.call), head, body, clock.monotonic());
  }

  function startCall(to: string, service: string, { head, body }: RelayRequest, answer: Answer): Flow {
    const call = `${++calls}`;
    const own = createWaiting(clock, answer, () => waiting.delete(call));
    const tell = (t: string, request?: JsonObject, bytes: Buffer = EMPTY) => {
      const head: JsonObject = { t, call, from: replica, service, request };
      post(to, { head, body: bytes }, (reachable) => own.fail(reachable ? LOST : STORE_LOST));
    };
    waiting.set(call, own);
    own.paused = () => tell('pause');
    tell('open', head, body);
    return {
      abort() {
        if (own.end()) tell('abort');
      },
      resume: () => tell('resume'),
    };
  }

  await channel.listen(`${prefix}relay:${replica}`, receive);
  return { replica, serve: served.add, call: startCall, close: () => channel.close() };
}

const STORE_LOST: BackendFault = {
  reason: 'unreachable',
  message: 'the store of sessions cannot be reached',
  retryAfterSeconds: 5,
};

const LOST: BackendFault = {
  reason: 'session-unknown',
  message: 'Session not found: its replica no longer runs',
};

interface Waiting {
  readonly answer: Answer;
  heardAt: number;
  /** Tells the serving replica to pause, because the client reads slowly. */
  paused: () => void;
  /** Ends the call. Returns false if the call has already ended. */
  end(): boolean;
  fail(fault: BackendFault): void;
}

function createWaiting(clock: BackendClock, answer: Answer, forget: () => void): Waiting {
  let over = false;
  const stop = repeat(clock, () => {
    if (clock.monotonic() - own.heardAt > SILENT_MS)
      own.fail({ reason: 'closed', message: 'the replica does not answer' });
  });
  const own: Waiting = {
    answer,
    heardAt: clock.monotonic(),
    paused: () => undefined,
    end() {
      if (over) return false;
      over = true;
      stop();
      forget();
      return true;
    },
    fail(fault) {
      if (own.end()) answer.fail(fault);
    },
  };
  return own;
}

function takeReply(own: Waiting | undefined, head: JsonObject, body: Buffer, now: number): void {
  if (own === undefined) return;
  own.heardAt = now;
  const { answer } = own;
  switch (head.t) {
    case 'head':
      answer.head(Number(head.status), headersIn(head.headers));
      break;
    case 'data':
      if (!answer.data(body)) own.paused();
      break;
    case 'end':
      if (own.end()) answer.end();
      break;
    case 'fail':
      own.fail(faultIn(head.fault));
      break;
  }
}

/** Returns the headers. Another release may send values that are neither texts nor lists. Such values are ignored. */
export function headersIn(value: Json | undefined): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, each] of Object.entries(isObject(value) ? value : {})) {
    if (typeof each === 'string') headers[name] = each;
    else if (Array.isArray(each)) headers[name] = each.filter((item) => typeof item === 'string');
  }
  return headers;
}

const REASONS: readonly BackendFault['reason'][] = [
  'unreachable',
  'timeout',
  'closed',
  'busy',
  'not-started',
  'session-unknown',
  'answer-invalid',
  'answer-too-large',
  'not-supported',
  'unauthorized',
  'forbidden',
];

function faultIn(value: Json | undefined): BackendFault {
  const { reason, message, detail, retryAfterSeconds }: JsonObject = isObject(value) ? value : {};
  return {
    reason: REASONS.find((each) => each === reason) ?? 'closed',
    message: typeof message === 'string' ? message : 'the replica did not answer',
    detail: typeof detail === 'string' ? detail : undefined,
    retryAfterSeconds: typeof retryAfterSeconds === 'number' ? retryAfterSeconds : undefined,
  };
}
