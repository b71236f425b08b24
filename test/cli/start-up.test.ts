// What commands that ask the cluster have loaded before they ask: milliseconds of every start, so each package is listed here.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileTo } from '../../scripts/bench/compiled.ts';

const PRELOADED = fileURLToPath(new URL('loaded-process.ts', import.meta.url));
/** No one here may read anything, so every command ends at its first request. */
const cluster = createServer((_request, response) => response.writeHead(403).end('{}'));
const folder = mkdtempSync(join(tmpdir(), 'skep-start-up-'));
let program: string;

beforeAll(async () => {
  program = await compileTo(folder);
  await new Promise<void>((resolve) => cluster.listen(0, '127.0.0.1', resolve));
  const server = `http://127.0.0.1:${(cluster.address() as AddressInfo).port}`;
  const kubeconfig = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me' } }],
    clusters: [{ name: 'here', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'me', user: { token: 'nothing' } }],
  };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig), { mode: 0o600 });
  const settings = {
    name: 'start',
    sources: [{ name: 'fleet', repository: `${server}/fleet.git` }],
    cluster: { kubeconfig: 'kubeconfig' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    stateDir: 'state',
  };
  writeFileSync(join(folder, 'skep.yaml'), JSON.stringify(settings));
});

afterAll(() => {
  cluster.close();
  rmSync(folder, { recursive: true });
});

async function loadedBefore(command: string): Promise<readonly string[]> {
  const file = join(folder, `${command}.json`);
  const args = ['--import', PRELOADED, program, command, '-c', 'skep.yaml'];
  const env = { PATH: process.env.PATH, HOME: folder, LOADED_FILE: file };
  await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch(({ code, stdout, stderr }) =>
    expect({ code, printed: `${stdout}${stderr}` }).toEqual({ code: 1, printed: expect.stringContaining('forbidden') }),
  );
  return JSON.parse(readFileSync(file, 'utf8'));
}

function packagesOf(urls: readonly string[]): readonly string[] {
  const names = urls.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

test.each(['status', 'plan', 'sync'])('%s loads no package that its first request does not need', async (command) => {
  const loaded = await loadedBefore(command);
  expect(packagesOf(loaded)).toEqual([
    // The plain way to read YAML: skep.yaml, the kubeconfig.
    'js-yaml',
    'p-limit',
    // The patterns of the schema of skep.yaml (5 ms, decision 0210).
    're2js',
    // The parts that send a request, of 110 modules.
    'undici',
    'yocto-queue',
  ]);
  expect(loaded.filter((url) => url.includes('/undici/')).length).toBeLessThan(40);
  // What an import of node:http as a module loads beside it.
  expect(loaded).toContain('NativeModule http');
  expect(loaded).not.toContain('NativeModule internal/deps/undici/undici');
});
