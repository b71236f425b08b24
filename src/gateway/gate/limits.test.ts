import { describe, expect, it } from 'vitest';
import { type CallPermit, createLimits, type LimitSettings } from './limits.ts';

const SETTINGS: LimitSettings = { concurrentCalls: 3, streams: 2, perCaller: {} };

function limited(settings: Partial<LimitSettings>) {
  const limits = createLimits({ ...SETTINGS, ...settings });
  const places: CallPermit[] = [];
  return {
    limits,
    places,
    /** Returns `in`, or the code of the refusal. */
    enter(caller: string, nowMs = 0, kind: 'call' | 'stream' = 'call'): string {
      const entered = limits.enter(kind, caller, nowMs);
      if (entered.ok) places.push(entered);
      return entered.ok ? 'in' : entered.denial.code;
    },
  };
}

describe('calls and streams in progress', () => {
  it('refuses calls beyond the total limit until a call ends', () => {
    const { enter, places } = limited({});
    expect(['a', 'b', 'a', 'c'].map((caller) => enter(caller))).toEqual(['in', 'in', 'in', 'calls-exceeded']);
    places[0]?.leave();
    expect([enter('c'), enter('c')]).toEqual(['in', 'calls-exceeded']);
  });

  it('counts calls and streams separately', () => {
    const { enter, limits } = limited({});
    expect([0, 0, 0].map((nowMs) => enter('a', nowMs, 'stream'))).toEqual(['in', 'in', 'streams-exceeded']);
    expect(enter('a')).toBe('in');
    expect([limits.count('call'), limits.count('stream')]).toEqual([1, 2]);
  });

  it('ignores the second end of a call', () => {
    const { enter, places, limits } = limited({});
    enter('a');
    enter('b');
    places[0]?.leave();
    places[0]?.leave();
    expect(limits.count('call')).toBe(1);
  });

  it('refuses the caller over the limit, but not other callers', () => {
    const { enter } = limited({ concurrentCalls: 100, perCaller: { concurrentCalls: 1, streams: 1 } });
    expect([enter('a'), enter('a'), enter('b')]).toEqual(['in', 'calls-exceeded-caller', 'in']);
    expect([enter('a', 0, 'stream'), enter('a', 0, 'stream')]).toEqual(['in', 'streams-exceeded-caller']);
  });

  it('returns the seconds until a retry', () => {
    const { limits } = limited({ concurrentCalls: 0, perCaller: {} });
    expect(limits.enter('call', 'a', 0)).toEqual({
      ok: false,
      denial: {
        httpStatus: 503,
        rpcCode: 503,
        code: 'calls-exceeded',
        message: 'Too many calls are in flight.',
        retryAfterSeconds: 1,
      },
    });
  });
});

describe('rates', () => {
  const rated = (settings: Partial<LimitSettings>) => limited({ concurrentCalls: 1e9, streams: 1e9, ...settings });
  const entered = (results: readonly string[]) => results.filter((result) => result === 'in').length;

  it('admits the requests of one second at once, and later requests at the configured rate', () => {
    const { enter } = rated({ requestsPerSecond: 10 });
    expect(entered(Array.from({ length: 30 }, () => enter('a', 0)))).toBe(10);
    expect(entered(Array.from({ length: 30 }, () => enter('a', 500)))).toBe(5);
    expect(entered(Array.from({ length: 30 }, () => enter('a', 3_600_000)))).toBe(10);
  });

  it('refuses a caller that sends too much before others are affected', () => {
    const { enter } = rated({ requestsPerSecond: 10, perCaller: { requestsPerSecond: 4 } });
    const greedy = Array.from({ length: 100 }, () => enter('greedy', 0));
    expect(entered(greedy)).toBe(4);
    expect(greedy[4]).toBe('rate-exceeded-caller');
    expect([1, 2, 3, 4].map(() => enter('other', 0))).toEqual(['in', 'in', 'in', 'in']);
    expect([1, 2, 3].map(() => enter('third', 0))).toEqual(['in', 'in', 'rate-exceeded']);
  });

  it('returns the seconds until the next request is allowed', () => {
    const { limits } = rated({ perCaller: { requestsPerSecond: 1 } });
    limits.enter('call', 'a', 0);
    expect(limits.enter('call', 'a', 0)).toMatchObject({ denial: { httpStatus: 429, retryAfterSeconds: 1 } });
  });

  it('tolerates a clock that goes back', () => {
    const { enter } = rated({ requestsPerSecond: 2 });
    expect([enter('a', 1000), enter('a', 0), enter('a', 0)]).toEqual(['in', 'in', 'rate-exceeded']);
  });

  it('distinguishes callers with similar keys, and does not forget frequent callers', () => {
    const { enter, places } = rated({ perCaller: { requestsPerSecond: 1 } });
    expect([enter('["https://i","a","c"]'), enter('["https://i","a","d"]'), enter('__proto__')]).toEqual([
      'in',
      'in',
      'in',
    ]);
    for (let index = 0; index < 50_000; index += 1) {
      enter(`caller ${index}`);
      if (index % 1000 === 0) enter('__proto__');
    }
    expect(enter('__proto__')).toBe('rate-exceeded-caller');
    for (const place of places) place.leave();
  });
});
