// Limits the load on one replica: requests per second, calls in flight and open streams, in total and per caller.

import { setBounded } from '#std/bounded.ts';
import type { Denial, GateCode } from './codes.ts';

export interface LimitSettings {
  readonly requestsPerSecond?: number;
  readonly concurrentCalls: number;
  readonly streams: number;
  readonly perCaller: {
    readonly requestsPerSecond?: number;
    readonly concurrentCalls?: number;
    readonly streams?: number;
  };
}

/** Permission for one call or stream. */
export interface CallPermit {
  readonly ok: true;
  /** Removes the call or stream from the counts. A second invocation has no effect. */
  leave(): void;
}

interface LimitDenial {
  readonly ok: false;
  readonly denial: Denial;
}

export interface ReplicaLimits {
  /**
   * Admits or refuses a request that starts a call or opens a stream. `caller` is equal for equal callers. `nowMs` is
   * the current time in monotonic milliseconds.
   */
  enter(kind: 'call' | 'stream', caller: string, nowMs: number): CallPermit | LimitDenial;
  /** Returns the current number of calls or streams. */
  count(kind: 'call' | 'stream'): number;
}

interface Bucket {
  /** Number of tokens in the bucket. Each request takes one token. */
  left: number;
  countedAt: number;
}

interface UnderWay {
  call: number;
  stream: number;
}

/** Maximum number of remembered callers. The buckets of the least recent callers are dropped, and start full again. */
const CALLERS_MAX = 10_000;

export function createLimits(settings: LimitSettings): ReplicaLimits {
  const { requestsPerSecond: rate, perCaller } = settings;
  const all = new Map<string, Bucket>();
  const buckets = new Map<string, Bucket>();
  const total: UnderWay = { call: 0, stream: 0 };
  // Current calls and streams per caller. Not stored in the buckets, because a map that changes with every call is
  // often rebuilt.
  const underWay = new Map<string, UnderWay>();

  function occupy(kind: keyof UnderWay, caller: string): CallPermit {
    const own = underWay.get(caller) ?? { call: 0, stream: 0 };
    underWay.set(caller, own);
    own[kind] += 1;
    total[kind] += 1;
    let left = false;
    return {
      ok: true,
      leave() {
        if (left) return;
        left = true;
        own[kind] -= 1;
        total[kind] -= 1;
        if (own.call === 0 && own.stream === 0 && underWay.size > CALLERS_MAX) underWay.delete(caller);
      },
    };
  }

  return {
    enter(kind, caller, nowMs) {
      const own = underWay.get(caller)?.[kind] ?? 0;
      const ownMax = kind === 'call' ? perCaller.concurrentCalls : perCaller.streams;
      if (ownMax !== undefined && own >= ownMax)
        return placeRefusal(kind === 'call' ? CALLS_OF_CALLER : STREAMS_OF_CALLER, 1);
      const max = kind === 'call' ? settings.concurrentCalls : settings.streams;
      if (total[kind] >= max) return placeRefusal(kind === 'call' ? CALLS : STREAMS, 1);
      const ownWait = perCaller.requestsPerSecond && waitOf(buckets, caller, perCaller.requestsPerSecond, nowMs);
      if (ownWait) return placeRefusal(RATE_OF_CALLER, ownWait);
      const wait = rate && waitOf(all, '', rate, nowMs);
      return wait ? placeRefusal(RATE, wait) : occupy(kind, caller);
    },
    count: (kind) => total[kind],
  };
}

/**
 * Takes one token from the bucket, which gains `perSecond` tokens per second. Returns the seconds to wait if the bucket
 * is empty.
 */
function waitOf(buckets: Map<string, Bucket>, key: string, perSecond: number, nowMs: number): number | undefined {
  const known = buckets.get(key) ?? { left: perSecond, countedAt: nowMs };
  const left = Math.min(perSecond, known.left + (Math.max(0, nowMs - known.countedAt) / 1000) * perSecond);
  const allowed = left >= 1;
  setBounded(buckets, key, { left: allowed ? left - 1 : left, countedAt: nowMs }, CALLERS_MAX);
  return allowed ? undefined : Math.ceil((1 - left) / perSecond);
}

interface Words {
  readonly httpStatus: 429 | 503;
  readonly code: GateCode;
  readonly message: string;
}

const CALLS: Words = { httpStatus: 503, code: 'calls-exceeded', message: 'Too many calls are in flight.' };
const CALLS_OF_CALLER: Words = {
  httpStatus: 429,
  code: 'calls-exceeded-caller',
  message: 'Too many of your calls are in flight.',
};
const STREAMS: Words = { httpStatus: 503, code: 'streams-exceeded', message: 'Too many streams are open.' };
const STREAMS_OF_CALLER: Words = {
  httpStatus: 429,
  code: 'streams-exceeded-caller',
  message: 'Too many of your streams are open.',
};
const RATE: Words = { httpStatus: 503, code: 'rate-exceeded', message: 'Too many requests are coming in.' };
const RATE_OF_CALLER: Words = {
  httpStatus: 429,
  code: 'rate-exceeded-caller',
  message: 'You are sending too many requests.',
};

function placeRefusal({ httpStatus, code, message }: Words, retryAfterSeconds: number): LimitDenial {
  return { ok: false, denial: { httpStatus, rpcCode: httpStatus, code, message, retryAfterSeconds } };
}
