// Builds the images of the suite with buildah: skep from the Dockerfile on a Debian root file system, and Debian's
// PostgreSQL with the image name in manifests/install/postgres.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASED_IMAGE } from '#hosts/reconciler/own-image.ts';

/** Names of the images on the node. */
export const IMAGES = {
  skep: RELEASED_IMAGE,
  /** The same build with another name, for upgrades. */
  next: RELEASED_IMAGE.replace(/[^:]+$/, 'next'),
  everything: 'skep.local/everything:1',
  pause: 'skep.local/pause:1',
  postgres: 'docker.io/library/postgres:17.6-bookworm',
} as const;

const DEBIAN = 'docker.io/library/debian:bookworm-slim';
const BASE = 'docker.io/library/node:24-bookworm-slim';
const SERVER = '@modelcontextprotocol/server-everything';
/** Uses a chroot, because user namespaces are not available on every machine. */
const ENV = { ...process.env, BUILDAH_ISOLATION: 'chroot' };

interface BuildOptions {
  /** Root folder of the checkout. */
  readonly root: string;
  /** Path of kustomize, which replaces the release that the Dockerfile downloads. */
  readonly kustomize: string;
  /** Path of a Debian root file system. */
  readonly rootfs: string;
  /** Folder for the archives of the images. */
  readonly folder: string;
}

export function archiveOf(folder: string, name: keyof typeof IMAGES): string {
  return join(folder, `${name}.tar`);
}

export function buildImages(options: BuildOptions): void {
  const { root, folder, kustomize } = options;
  buildBases(options);
  const stage = join(folder, 'kustomize-stage');
  mkdirSync(join(stage, 'kustomize'), { recursive: true });
  cpSync(kustomize, join(stage, 'kustomize/kustomize'));
  const contexts = ['--build-context', `kustomize=${stage}`];
  buildah('bud', '--pull-never', ...contexts, '--format', 'docker', '--tag', IMAGES.skep, root);
  buildServer(root, join(folder, 'everything'));
  derive(BASE, IMAGES.pause, ['--entrypoint', '["sleep","infinity"]', '--cmd', '']);
  derive(IMAGES.skep, IMAGES.next, ['--label', 'org.opencontainers.image.version=next']);
  buildPostgres(root);
  for (const [name, image] of Object.entries(IMAGES)) {
    const archive = join(folder, `${name}.tar`);
    rmSync(archive, { force: true });
    buildah('push', '--quiet', image, `docker-archive:${archive}:${image}`);
  }
}

/** Builds Debian, and Debian with Node of node_modules and this machine's npm at the paths of the official image. */
function buildBases({ root, rootfs, folder }: BuildOptions): void {
  const npm = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim();
  const launcher = join(folder, 'npm');
  const program = '/usr/local/lib/node_modules/npm/bin/npm-cli.js';
  writeFileSync(launcher, `#!/bin/sh\nexec node ${program} "$@"\n`, { mode: 0o755 });
  // Access to package registries may need a certificate of this machine.
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  const debian: readonly Added[] = [
    [rootfs, '/'],
    ...(existsSync(certificates) ? [[certificates, certificates] as const] : []),
  ];
  buildBase(DEBIAN, debian, certificates);
  const node: readonly Added[] = [
    ...debian,
    [join(root, 'node_modules/node/bin/node'), '/usr/local/bin/node'],
    [join(npm, 'npm'), '/usr/local/lib/node_modules/npm'],
    [launcher, '/usr/local/bin/npm'],
  ];
  buildBase(BASE, node, certificates);
}

type Added = readonly [from: string, to: string];

function buildBase(image: string, added: readonly Added[], certificates: string): void {
  const container = buildah('from', 'scratch');
  for (const [from, to] of added) buildah('add', '--quiet', container, from, to);
  buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container);
  buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container);
  buildah('commit', '--quiet', container, image);
  buildah('rm', container);
}

function buildServer(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', SERVER, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-fund', '--no-audit', `${SERVER}@${version}`], {
    cwd: folder,
    stdio: 'ignore',
  });
  const command = JSON.stringify(['node', `/srv/node_modules/${SERVER}/dist/index.js`]);
  derive(
    BASE,
    IMAGES.everything,
    ['--workingdir', '/srv', '--user', '65532:65532', '--entrypoint', command, '--cmd', ''],
    {
      from: folder,
      to: '/srv',
    },
  );
}

/** Builds PostgreSQL with the user id in the manifest, and with its programs in PATH, as in the official image. */
function buildPostgres(root: string): void {
  const container = buildah('from', '--pull-never', BASE);
  const user = 'groupadd --gid 999 postgres && useradd --uid 999 --gid 999 postgres';
  const installed = 'apt-get update && apt-get install --yes --no-install-recommends postgresql';
  const linked = 'ln -s /usr/lib/postgresql/*/bin /usr/local/lib/postgres';
  const steps = ['export DEBIAN_FRONTEND=noninteractive', user, installed, linked].join(' && ');
  buildah('run', container, 'sh', '-c', steps);
  buildah('add', '--quiet', '--chmod', '755', container, join(root, 'test/node/postgres.sh'), '/entrypoint.sh');
  const path = 'PATH=/usr/local/lib/postgres:/usr/local/bin:/usr/bin:/bin';
  buildah(
    'config',
    '--env',
    path,
    '--env',
    'LANG=C.UTF-8',
    '--entrypoint',
    '["/entrypoint.sh"]',
    '--cmd',
    '',
    container,
  );
  buildah('commit', '--quiet', container, IMAGES.postgres);
  buildah('rm', container);
}

function derive(base: string, image: string, config: readonly string[], added?: { from: string; to: string }): void {
  const container = buildah('from', '--pull-never', base);
  if (added !== undefined) buildah('add', '--quiet', container, added.from, added.to);
  buildah('config', ...config, container);
  buildah('commit', '--quiet', container, image);
  buildah('rm', container);
}

function buildah(...args: readonly string[]): string {
  return execFileSync('buildah', [...args], { encoding: 'utf8', env: ENV, maxBuffer: 64 * 1024 * 1024 }).trim();
}
