// The image: its health check says what the listener says, kustomize is in it by its digest, and a release pushes it under the name that manifests/install asks
// for. The image itself is built by the release.

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { memoryOfBuild } from '#hosts/reconciler/kustomize-here.ts';
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

describe('kustomize in the image', () => {
  const [, stage = ''] = /AS kustomize\n(.*?)\n\nFROM/s.exec(text('Dockerfile')) ?? [];
  const [, script = ''] = /^RUN (.*)/ms.exec(stage) ?? [];

  /** What the stage runs, with an archive in place of the release. */
  function unpack(platform: string, rewrite = (written: string) => written): SpawnSyncReturns<string> {
    const place = join(folder.path, 'kustomize');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'kustomize'), `#!/bin/sh\n# ${platform}\n`, { mode: 0o644 });
    spawnSync('tar', ['-czf', 'archive.tar.gz', 'kustomize'], { cwd: place });
    rmSync(join(place, 'kustomize'));
    const digest = createHash('sha256')
      .update(readFileSync(join(place, 'archive.tar.gz')))
      .digest('hex');
    const written = rewrite(script).replace('OWN', digest);
    return spawnSync('sh', ['-c', written], {
      cwd: place,
      env: { PATH: process.env.PATH, TARGETARCH: platform },
      encoding: 'utf8',
    });
  }
  const isUnpacked = () => existsSync(join(folder.path, 'kustomize/kustomize'));

  test.each(['amd64', 'arm64'])('is refused if the archive for %s has another digest', (platform) => {
    expect(unpack(platform).status).not.toBe(0);
    expect(isUnpacked()).toBe(false);
  });

  test('is refused for a platform without a digest', () => {
    expect(unpack('s390x')).toMatchObject({ status: 1, stderr: expect.stringContaining('no digest for the platform') });
    expect(isUnpacked()).toBe(false);
  });

  test.each(['amd64', 'arm64'])('is unpacked for %s if the archive has the digest', (platform) => {
    const ended = unpack(platform, (written) =>
      written.replace(new RegExp(`(${platform}\\) digest=)[0-9a-f]{64}`), '$1OWN'),
    );
    expect(ended).toMatchObject({ status: 0, stdout: 'archive.tar.gz: OK\n' });
    expect(statSync(join(folder.path, 'kustomize/kustomize')).mode & 0o111).toBe(0o111);
    rmSync(join(folder.path, 'kustomize/kustomize'));
  });

  test('is a release for each platform, on the PATH of the user', () => {
    expect(stage).toMatch(
      /^ADD https:\/\/github\.com\/kubernetes-sigs\/kustomize\/releases\/.*\$\{TARGETARCH\}\.tar\.gz /m,
    );
    const { steps } = parse(text('.github/workflows/release.yml')).jobs.image;
    const platforms: string = steps.find(({ id }: { id?: string }) => id === 'build').with.platforms;
    const names = platforms.split(',').map((platform) => platform.replace('linux/', ''));
    expect([...script.matchAll(/(\w+)\) digest=[0-9a-f]{64}/g)].map(([, platform]) => platform)).toEqual(names);
    expect(text('Dockerfile')).toContain('COPY --from=kustomize /kustomize/kustomize /usr/local/bin/kustomize\n');
    const [, version] = /kustomize_v([0-9.]+)_linux/.exec(stage) ?? [];
    expect(text('docs/layouts.md')).toContain(`The image of skep contains kustomize ${version}.`);
  });

  test('has a folder to work in where the root file system is read-only', () => {
    const { stateDir } = parse(text('manifests/install/reconciler/skep.yaml'));
    const pods = [
      parse(text('manifests/install/reconciler/deployment.yaml')).spec.template.spec,
      parse(text('manifests/install/cronjob/cronjob.yaml')).spec.jobTemplate.spec.template.spec,
    ];
    for (const { containers, volumes } of pods) {
      const [{ volumeMounts, securityContext }] = containers;
      expect(securityContext.readOnlyRootFilesystem).toBe(true);
      const mount = volumeMounts.find(({ mountPath }: { mountPath: string }) => mountPath === stateDir);
      expect(mount.readOnly).toBeUndefined();
      expect(volumes.find(({ name }: { name: string }) => name === mount.name).emptyDir).toBeDefined();
    }
  });

  test('has a quarter of the memory of its container', () => {
    const { resources } = parse(text('manifests/install/reconciler/deployment.yaml')).spec.template.spec.containers[0];
    expect(resources.limits.memory).toBe('1Gi');
    expect(memoryOfBuild(1024 ** 3)).toBe(256 * 1024 ** 2);
    expect([0, 2 ** 64].map(memoryOfBuild)).toEqual([1024 ** 3, 1024 ** 3]);
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
