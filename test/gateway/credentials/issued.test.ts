// Tests that a caller never gets a token that was issued to another caller, in any order of requests.

import { expect, it } from 'vitest';
import type { CredentialCaller } from '#gateway/credentials/credential.ts';
import { callerKey, createIssuedStore, type Issue } from '#gateway/credentials/issued.ts';
import { seeded } from '../../harness/random.ts';

interface Given {
  readonly caller: string;
  readonly token: string;
  readonly role: string;
}

interface Asked {
  readonly key: string;
  end(issue: Issue<Given>): void;
}

const UNAVAILABLE = { code: 'exchange-unavailable', message: 'not now' } as const;
const CALLERS = ['ada', 'bob', 'ada\nx', 'x'];
const TOKENS = ['one', 'two', 'three'];
const ROLES = ['', 'reader', 'admin'];

it.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'with the random order of seed %i, every caller gets its own token',
  async (seed) => {
    const random = seeded(seed);
    let nowMs = 1_000_000;
    const clock = { now: () => nowMs, monotonic: () => nowMs };
    const store = createIssuedStore<Given>(clock, UNAVAILABLE);
    const open: Asked[] = [];
    const answers: Promise<void>[] = [];
    let asked = 0;

    function call(): void {
      const own: Given = { caller: random.pick(CALLERS), token: random.pick(TOKENS), role: random.pick(ROLES) };
      const caller: CredentialCaller = {
        key: own.caller,
        token: own.token,
        claims: {},
        expiry: random.chance(0.3) ? nowMs / 1000 + random.integer(100) : undefined,
      };
      const key = callerKey(caller, own.token, own.role);
      const given = store.get(key, caller, () => {
        expect(open.filter((each) => each.key === key)).toEqual([]);
        asked += 1;
        return new Promise((resolve) => {
          open.push({ key, end: (issue) => resolve(issue.type === 'issued' ? { ...issue, value: own } : issue) });
        });
      });
      answers.push(Promise.resolve(given).then((each) => void (each.ok && expect(each.value).toEqual(own))));
    }

    function end(): void {
      const [ended] = open.splice(random.integer(open.length), 1);
      const kind = random.integer(10);
      const value = { caller: '', token: '', role: '' };
      if (kind === 0) ended?.end({ type: 'unavailable', detail: 'down' });
      else if (kind === 1) ended?.end({ type: 'refused', refusal: { status: 401, code: 'x', message: 'x' } });
      else if (kind === 2) ended?.end({ type: 'issued', value });
      else ended?.end({ type: 'issued', value, expiresAtMs: nowMs + random.integer(120_000) });
    }

    for (let step = 0; step < 300; step += 1) {
      if (random.chance(0.55)) call();
      else if (random.chance(0.7)) end();
      else nowMs += random.integer(20_000);
      if (random.chance(0.5)) await Promise.resolve();
    }
    while (open.length > 0) end();
    await Promise.all(answers);
    expect(asked).toBeGreaterThan(10);
    expect(asked).toBeLessThan(answers.length);
  },
);

it('keys differ if caller, token or details differ', () => {
  const keys = CALLERS.flatMap((key) =>
    TOKENS.flatMap((token) => ROLES.map((role) => callerKey({ key, claims: {} }, token, role))),
  );
  expect(new Set(keys).size).toBe(CALLERS.length * TOKENS.length * ROLES.length);
});

it('no key contains the token', () => {
  expect(callerKey({ key: 'ada', claims: {} }, 'secret-token')).not.toContain('secret-token');
});

it('the oldest entries are removed, so that the store stays small', async () => {
  const store = createIssuedStore<number>({ now: () => 0, monotonic: () => 0 }, UNAVAILABLE);
  let asked = 0;
  const ask = (index: number) =>
    store.get(`key ${index}`, { key: 'ada', claims: {} }, async () => {
      asked += 1;
      return { type: 'issued', value: index, expiresAtMs: 3_600_000 };
    });
  for (let index = 0; index <= 10_000; index += 1) await ask(index);
  expect(ask(10_000)).toEqual({ ok: true, value: 10_000 });
  expect(asked).toBe(10_001);
  await ask(0);
  expect(asked).toBe(10_002);
});

it('a failed request does not block the next request', async () => {
  const store = createIssuedStore<number>({ now: () => 0, monotonic: () => 0 }, UNAVAILABLE);
  const caller = { key: 'ada', claims: {} };
  await expect(store.get('key', caller, () => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
  expect(await store.get('key', caller, async () => ({ type: 'issued', value: 1 }))).toEqual({ ok: true, value: 1 });
});
