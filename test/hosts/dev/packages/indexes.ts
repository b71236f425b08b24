// Package registries of tests on loopback: one npm package as `npm pack` makes it, with an install script, and one wheel.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PackageIndexes {
  /** By which npm and uv get there. */
  readonly environment: Readonly<Record<string, string>>;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
  stop(): void;
}

export const NPM_PACKAGE = { name: '@fixture/bees', version: '1.2.3' };
export const WHEEL = { name: 'fixture-bees', version: '1.2.3' };

/** `dir`: where the packages are made; `ran`: the file that the install script would write. */
export async function startIndexes(dir: string, ran: string): Promise<PackageIndexes> {
  const tarball = packForNpm(join(dir, 'npm'), ran);
  const wheel = zipWheel(join(dir, 'wheel'));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    asked.push(path);
    if (path === `/npm/${NPM_PACKAGE.name}`) {
      const text = JSON.stringify(describePackage(tarball, `http://${request.headers.host}/bees.tgz`));
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    } else if (path === '/bees.tgz') response.end(tarball);
    else if (path === `/simple/${WHEEL.name}/`) {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="/${WHEEL_FILE}">${WHEEL_FILE}</a>`);
    } else if (path === `/${WHEEL_FILE}`) response.end(wheel);
    else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    environment: { npm_config_registry: `${origin}/npm/`, UV_DEFAULT_INDEX: `${origin}/simple` },
    asked,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

function packForNpm(dir: string, ran: string): Buffer {
  mkdirSync(dir, { recursive: true });
  copyFileSync(fileOf('server.mjs'), join(dir, 'server.mjs'));
  const scripts = { postinstall: `node -e "require('fs').writeFileSync('${ran}', '')"` };
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...NPM_PACKAGE, bin: { bees: 'server.mjs' }, scripts }));
  const env = { PATH: process.env.PATH, HOME: dir };
  // Without log files: npm reads a file that it has just begun to write, and now and then fails.
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--logs-max=0'], { cwd: dir, env, encoding: 'utf8' }),
  );
  return readFileSync(join(dir, packed.filename));
}

function describePackage(tarball: Buffer, url: string): object {
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const version = { ...NPM_PACKAGE, bin: { bees: 'server.mjs' }, hasInstallScript: true };
  return {
    name: NPM_PACKAGE.name,
    'dist-tags': { latest: NPM_PACKAGE.version },
    versions: { [NPM_PACKAGE.version]: { ...version, dist: { tarball: url, integrity } } },
  };
}

const WHEEL_FILE = `fixture_bees-${WHEEL.version}-py3-none-any.whl`;

/** Empty where there is no Python to zip it with, and so none to run it. */
function zipWheel(dir: string): Buffer {
  if (findTool('uv') === undefined) return Buffer.alloc(0);
  const info = `fixture_bees-${WHEEL.version}.dist-info`;
  mkdirSync(join(dir, info), { recursive: true });
  copyFileSync(fileOf('server.py'), join(dir, 'fixture_bees.py'));
  writeFileSync(join(dir, info, 'METADATA'), `Metadata-Version: 2.1\nName: ${WHEEL.name}\nVersion: ${WHEEL.version}\n`);
  writeFileSync(
    join(dir, info, 'WHEEL'),
    'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  );
  writeFileSync(join(dir, info, 'entry_points.txt'), `[console_scripts]\n${WHEEL.name} = fixture_bees:main\n`);
  const files = [
    'fixture_bees.py',
    ...['METADATA', 'WHEEL', 'entry_points.txt', 'RECORD'].map((name) => `${info}/${name}`),
  ];
  writeFileSync(join(dir, info, 'RECORD'), files.map((name) => `${name},,\n`).join(''));
  execFileSync('python3', ['-m', 'zipfile', '-c', WHEEL_FILE, 'fixture_bees.py', `${info}/`], { cwd: dir });
  return readFileSync(join(dir, WHEEL_FILE));
}

/** Undefined: it is not in the PATH. */
export function findTool(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        execFileSync(file, ['--version'], { stdio: 'ignore' });
        return true;
      } catch {
        return false;
      }
    });
}
