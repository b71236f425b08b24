// Tests which unanswered requests a run reports after its deadline.

import { expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import { connect, failureOf, serve, widget } from '../../../test/harness/api-server.ts';

test('a run that exceeds its deadline lists its pending requests, and no requests of an earlier run', async () => {
  const { url } = await serve(({ path }) => (path.includes('silent') ? 'drop' : { json: widget }));
  let passed = 0;
  const clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + passed,
    async sleep() {
      passed += 30_000;
    },
  };
  const cluster = await connect(url, { clock });
  function get(name: string) {
    return failureOf(() => cluster.get({ apiVersion: 'example.com/v2', kind: 'Widget', name, namespace: 'ns' }));
  }
  async function run(name: string): Promise<string> {
    const until = clock.monotonic() + 600_000;
    cluster.limit({ changesUntil: until, requestsUntil: until, setting: 'apply.deadlineSeconds: 600' });
    await get(name);
    passed += 600_000;
    const { message } = await get('w');
    cluster.limit(undefined);
    return message;
  }
  await cluster.resources();
  expect(await run('silent-1')).toMatch(/is over; there was no answer to GET [^ ]*\/silent-1$/);
  expect(await run('silent-2')).toMatch(/is over; there was no answer to GET [^ ]*\/silent-2$/);
});
