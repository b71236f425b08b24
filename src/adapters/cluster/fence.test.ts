// A fence that falls: nothing is written any more, not even what waits, is repeated, or has no connection yet.

import { expect, test } from 'vitest';
import { busy, connect, failureOf, serve, widget } from '../../../test/harness/api-server.ts';
import { Failure } from '../../std/failure.ts';

test('after the fence fell nothing is written, not even what waited or is repeated', async () => {
  let fallen = false;
  const { url, received } = await serve(({ body }) => {
    fallen = true;
    return body.includes('"busy"') ? busy : { json: widget };
  });
  const cluster = await connect(url, { concurrency: 1 });
  await cluster.resources();
  cluster.fence(() => {
    if (fallen) throw new Failure('lock-lost', 'the lease ran out');
  });
  const named = (name: string) => ({ ...widget, metadata: { ...widget.metadata, name } });
  const outcomes = await Promise.allSettled([
    cluster.apply(named('busy'), { force: false }),
    cluster.apply(named('queued'), { force: false }),
    cluster.remove({ apiVersion: 'example.com/v2', kind: 'Widget', namespace: 'ns', name: 'removed' }, 'uid'),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'))).toEqual([
    'lock-lost',
    'lock-lost',
    'lock-lost',
  ]);
  expect(received.length).toBe(1);
  await cluster.apply(named('dry'), { force: false, dryRun: true });
  cluster.fence(undefined);
  await cluster.apply(named('after'), { force: false });
  expect(received.length).toBe(3);
});

test('a fence that falls while a connection is made lets no byte of the request leave', async () => {
  const { url, received } = await serve(() => ({ json: widget }));
  const cluster = await connect(url);
  await cluster.resources();
  let checks = 0;
  cluster.fence(() => {
    checks += 1;
    if (checks === 2) throw new Failure('lock-lost', 'the lease ran out');
  });
  const failure = await failureOf(() => cluster.apply(widget, { force: false }));
  expect(failure.code).toBe('lock-lost');
  expect(received).toEqual([]);
  expect(await cluster.apply(widget, { force: false })).toEqual(widget);
  expect(received.map(({ method }) => method)).toEqual(['PATCH']);
});
