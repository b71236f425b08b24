// The number of pods of a server that sleeps: answers that are not a Scale never count as a number.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServerScale } from '#adapters/attach/scale.ts';
import type { JsonObject } from '#std/json.ts';

let answer: JsonObject = {};
const listener = createServer((_request, response) => response.end(JSON.stringify(answer)));
beforeAll(() => new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve)));
afterAll(() => listener.close());

function scale() {
  const server = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const credentials = async () => ({ headers: {}, tls: {} });
  return createServerScale({ server, namespace: 'docs', credentials, statefulSet: 'wiki', deployment: 'wiki' });
}

test('a Scale without replicas has no pods', async () => {
  answer = { kind: 'Scale', metadata: { resourceVersion: '7' }, spec: {}, status: {} };
  expect(await scale().read()).toEqual({ declared: 0, existing: 0 });
  answer = { ...answer, spec: { replicas: 2 }, status: { replicas: 3 } };
  expect(await scale().read()).toEqual({ declared: 2, existing: 3 });
  expect(await scale().countProxies()).toEqual({ pods: 3, version: '7' });
});

test.each([
  { name: 'an object of another kind', sent: { kind: 'Status', metadata: { resourceVersion: '7' } } },
  { name: 'a Scale without a version', sent: { kind: 'Scale', metadata: {}, spec: {}, status: { replicas: 1 } } },
])('$name is refused', async ({ sent }) => {
  answer = sent;
  await expect(scale().read()).rejects.toMatchObject({ code: 'scale-refused' });
  await expect(scale().countProxies()).rejects.toMatchObject({ code: 'scale-refused' });
});
