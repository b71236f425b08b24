import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { probePort } from './free-port.ts';
import { openServices } from './services.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'skep-services-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('a Service whose port is opened while the node stops does not listen afterwards, and none is opened later', async () => {
  const services = openServices({ service: async () => undefined }, dir, () => []);
  const opening = services.port('default', 'early', 80);
  await services.close();
  expect(await probePort(await opening)).toBe(true);
  await expect(services.port('default', 'late', 80)).rejects.toThrow('the node has stopped');
});
