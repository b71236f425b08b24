// The image: its health check says what the listener says, and a release pushes it under the name that manifests/install asks
// for. The image itself is built by the release.

import { type SpawnSyncReturns, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../harness/git-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const folder = temporaryFolder();
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  folder.remove();
});

async function listener(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
}

/** As the engine runs it, beside a first process with that command line. */
function check(
  command: readonly string[],
  env: Record<string, string>,
): Promise<Pick<SpawnSyncReturns<string>, 'status' | 'stderr'>> {
  const file = join(folder.path, 'cmdline');
  writeFileSync(file, `${['node', '/skep/dist/skep.js', ...command].join('\0')}\0`);
  const child = spawn(process.execPath, [join(ROOT, 'scripts/image-health.ts'), file], { env });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((done) => child.once('close', (status) => done({ status, stderr })));
}

describe('the health check', () => {
  test('is what the image runs, and is in it', () => {
    const dockerfile = text('Dockerfile');
    expect(dockerfile).toMatch(/^HEALTHCHECK .* CMD \["node", "\/skep\/image-health\.ts"\]$/m);
    expect(dockerfile).toMatch(/^COPY scripts\/image-health\.ts \.\/$/m);
  });

  test('says what the listener says; what ends by itself is healthy while it runs', async () => {
    const well = { SKEP_HEALTH_URL: await listener((_, response) => response.end('{}')) };
    const ill = { SKEP_HEALTH_URL: await listener((_, response) => response.writeHead(503).end()) };
    const results = await Promise.all([check(['serve'], well), check(['serve'], ill)]);
    expect(results).toEqual([
      { status: 0, stderr: '' },
      { status: 1, stderr: `${ill.SKEP_HEALTH_URL}: status 503\n` },
    ]);
    expect(await check(['sync', '-c', '/etc/skep/skep.yaml'], {})).toEqual({ status: 0, stderr: '' });
  });
});

test('a release pushes the tag that is installed, for two platforms', () => {
  const { steps } = parse(text('.github/workflows/release.yml')).jobs.image;
  const { with: build } = steps.find(({ id }: { id?: string }) => id === 'build');
  expect([build.platforms, build.tags]).toEqual([
    'linux/amd64,linux/arm64',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: GitHub's own
    '${{ env.IMAGE }}:${{ steps.version.outputs.number }}',
  ]);
  const { version } = JSON.parse(text('package.json'));
  expect(text('manifests/install/reconciler/deployment.yaml')).toContain(`image: ghcr.io/skep-dev/skep:${version}\n`);
});
