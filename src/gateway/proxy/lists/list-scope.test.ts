import { expect, test } from 'vitest';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { createKnownTools } from '../../gate/known-tools.ts';
import { createLockKeeper } from '../../gate/tools-lock/keeper.ts';
import { openLock } from '../../gate/tools-lock/lock.ts';
import { createSessionSeal } from '../../wire/seal.ts';
import { ANONYMOUS } from '../caller.ts';
import { prepareExchange } from '../exchange.ts';
import { createRules } from '../rules.ts';

const READ = { name: 'read' };
const LOCK = heldLock('enforce', { server: { kind: 'MCPServer' }, tools: [READ] });
const ALICE = '["https://issuer.example","alice",""]';

/** `callBy` returns the scope whose list the proxy must read before the call, or undefined if the call may proceed. */
function open() {
  const keeper = createLockKeeper(openLock(LOCK), {
    clock: { monotonic: () => 0 },
    observed: () => undefined,
    agreed: () => undefined,
    completed: () => undefined,
  });
  const rules = createRules({ lock: keeper, known: createKnownTools(), unreadable: () => undefined });
  function callBy(key: string, session: string | undefined): string | undefined {
    const prepared = prepareExchange(
      {
        seal: createSessionSeal({ keys: [Buffer.alloc(32)], random: Buffer.alloc }),
        rules,
        live: { current: () => rules, onChange: () => () => undefined },
        credential: ({ headers }) => ({ ok: true, headers }),
        rateLimits: undefined,
        messageBytes: 1000,
      },
      {
        method: 'POST',
        path: '/mcp',
        headers: {},
        body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}'),
        caller: { ...ANONYMOUS, key },
        trace: () => ({}),
        forwarded: {},
        backendSession: { id: session },
      },
    );
    return 'needsList' in prepared ? prepared.needsList?.scope : undefined;
  }
  function read(scope: string): void {
    const reading = keeper.beginReading('tools', scope);
    keeper.decide('tools', 'read', Buffer.from(JSON.stringify(READ)), reading);
    reading.end();
  }
  return { callBy, read };
}

test('a list read in one session is not used for sessions of other callers, even with the same session id', () => {
  const { callBy, read } = open();
  read(callBy(ALICE, 'one') ?? '');
  expect(callBy(ALICE, 'one')).toBeUndefined();
  for (const key of ['', '["https://issuer.example","bob",""]']) expect(callBy(key, 'one')).toBeDefined();
});

test('a list read without a session, or by the proxy, is not used for a session with an imitated id', () => {
  const { callBy, read } = open();
  read(callBy(ALICE, undefined) ?? '');
  expect(callBy(ALICE, undefined)).toBeUndefined();
  read('the proxy itself');
  for (const session of [ALICE, '', 'the proxy itself']) expect(callBy('', session)).toBeDefined();
});
