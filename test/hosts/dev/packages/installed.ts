// An npm registry on loopback that has what is installed in node_modules, and nothing else.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
}

export interface InstalledRegistry {
  readonly url: string;
  stop(): void;
}

export async function startInstalledRegistry(): Promise<InstalledRegistry> {
  const lock: { packages: Record<string, Partial<Manifest>> } = JSON.parse(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  );
  const folders = Object.keys(lock.packages).filter((path) => path.startsWith('node_modules/'));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const folder = path.startsWith('tar/') ? path.slice('tar/'.length) : undefined;
    if (folder !== undefined && folders.includes(folder)) {
      response.end(tarball(folder));
      return;
    }
    const origin = `http://${request.headers.host}`;
    const versions = folders
      .filter((each) => each.endsWith(`node_modules/${path}`))
      .flatMap((each) => described(each, origin));
    if (versions.length === 0) response.writeHead(404).end('{}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(packument(path, versions)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const tarballs = new Map<string, Buffer>();

/** Without what is nested in it: these are packages of their own. npm takes the first folder of a tarball off. */
function tarball(folder: string): Buffer {
  const known = tarballs.get(folder);
  if (known !== undefined) return known;
  const path = join(ROOT, folder);
  const args = ['-czf', '-', `--exclude=${basename(path)}/node_modules`, '-C', dirname(path), basename(path)];
  const made = execFileSync('tar', args, { maxBuffer: 256 << 20 });
  tarballs.set(folder, made);
  return made;
}

/** Empty for an optional package of another platform. */
function described(folder: string, origin: string): readonly object[] {
  try {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const { devDependencies: _ours, ...published } = manifest;
    return [{ ...published, dist: { tarball: `${origin}/tar/${folder}`, integrity: integrityOf(folder) } }];
  } catch {
    return [];
  }
}

function integrityOf(folder: string): string {
  return `sha512-${createHash('sha512').update(tarball(folder)).digest('base64')}`;
}

function packument(name: string, versions: readonly object[]): object {
  const all = versions as readonly Manifest[];
  return {
    name,
    'dist-tags': { latest: all[0]?.version },
    versions: Object.fromEntries(all.map((each) => [each.version, each])),
  };
}
