// A fence that falls while a request already waits for its connection.

import { expect, test } from 'vitest';
import { connect, failureOf, serve, widget } from '../../../test/harness/api-server.ts';
import { Failure } from '../../std/failure.ts';

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
