import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort, probePort } from './free-port.ts';
import { openServices } from './services.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'skep-services-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('a Service port that is opened while the node stops is closed afterwards, and later openings fail', async () => {
  const services = openServices({ service: async () => undefined }, dir, () => []);
  const opening = services.port('default', 'early', 80);
  await services.close();
  expect(await probePort(await opening)).toBe(true);
  await expect(services.port('default', 'late', 80)).rejects.toThrow('the node has stopped');
});

test.each(Array.from({ length: 20 }, (_, turns) => turns))(
  'two Services with the same recorded port get different ports when the second is opened %i turns after the first',
  async (turns) => {
    const port = await freePort();
    writeFileSync(join(dir, 'service-ports.json'), JSON.stringify({ 'default/one:80': port, 'default/two:80': port }));
    const services = openServices({ service: async () => undefined }, dir, () => []);
    try {
      const one = services.port('default', 'one', 80);
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      const two = services.port('default', 'two', 80);
      expect(new Set(await Promise.all([one, two])).size).toBe(2);
    } finally {
      await services.close();
    }
  },
);

test('a Service gets no port while its port cannot be stored, and gets a port once it can be stored', async () => {
  const missing = join(dir, 'missing');
  const services = openServices({ service: async () => undefined }, missing, () => []);
  try {
    await expect(services.port('default', 'one', 80)).rejects.toThrow('ENOENT');
    mkdirSync(missing);
    expect(await services.port('default', 'one', 80)).toBeGreaterThan(0);
  } finally {
    await services.close();
  }
});
