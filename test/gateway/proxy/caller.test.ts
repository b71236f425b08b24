import { expect, test } from 'vitest';
import { callerVariant } from '#gateway/backends/caller-key.ts';
import { ANONYMOUS, callerOf, userOfCaller } from '#gateway/proxy/caller.ts';

function keyOf(client: string): string {
  const claims = { iss: 'https://issuer.example.com', sub: 'ada', azp: client };
  return callerOf({ claims, provider: 'one', scopes: [] }, 'token').key;
}

test('a user stays the same with another client, and with other values of forwarded headers', () => {
  const user = userOfCaller(keyOf('one'));
  expect([keyOf('two'), callerVariant(keyOf('one'), 'blue')].map(userOfCaller)).toEqual([user, user]);
  expect([ANONYMOUS.key, callerVariant(ANONYMOUS.key, 'blue')].map(userOfCaller)).toEqual(['', '']);
});
