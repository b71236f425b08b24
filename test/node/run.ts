// Runs `npm run test:node`: checks the required programs, builds the images, and runs the suite in separate namespaces.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildImages } from './images.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Programs of Kubernetes in the folder SKEP_NODE_BINARIES (docs/testing.md describes how to get them). */
const BINARIES = [
  ...['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'],
  ...['coredns', 'kustomize'],
];
/** Programs of the system, from Debian packages. */
const TOOLS = [
  ...['containerd', 'ctr', 'runc', 'buildah', 'iptables', 'ip', 'conntrack', 'openssl', 'unshare'],
  ...['git', 'sshd', 'ssh-keygen', 'ssh-keyscan'],
];
const PLUGINS = ['bridge', 'host-local', 'portmap', 'loopback'];

/** Returns sentences about missing requirements. Empty if the suite can run. */
function missing(binaries: string): string[] {
  const path = (process.env.PATH ?? '').split(':');
  return [
    ...(process.getuid?.() === 0 ? [] : ['a node needs root: run it as root, on a machine that may be changed']),
    ...(process.platform === 'linux' ? [] : ['a node needs Linux']),
    ...BINARIES.filter((name) => !existsSync(join(binaries, name))).map(
      (name) => `${name} is not in SKEP_NODE_BINARIES (${binaries || 'not set'})`,
    ),
    ...TOOLS.filter((name) => !path.some((folder) => existsSync(join(folder, name)))).map(
      (name) => `${name} is not installed`,
    ),
    ...PLUGINS.filter((name) => !existsSync(join('/usr/lib/cni', name))).map(
      (name) => `/usr/lib/cni/${name} is missing: install containernetworking-plugins`,
    ),
    ...(existsSync(process.env.SKEP_NODE_ROOTFS ?? '')
      ? []
      : ['SKEP_NODE_ROOTFS names no folder: the root file system that stands in for the base image']),
  ];
}

const binaries = process.env.SKEP_NODE_BINARIES ?? '';
const gaps = missing(binaries);
if (gaps.length > 0) {
  process.stdout.write(`the suite of a real node is skipped:\n${gaps.map((gap) => `- ${gap}`).join('\n')}\n`);
} else {
  const folder = process.env.SKEP_NODE_DIR ?? join(tmpdir(), 'skep-node');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  buildImages({
    root: ROOT,
    rootfs: process.env.SKEP_NODE_ROOTFS ?? '',
    folder,
    kustomize: join(binaries, 'kustomize'),
  });
  // All started processes end with the process namespace.
  const inside = ['--net', '--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/node/vitest.config.ts'];
  const suite = [process.execPath, ...vitest, ...process.argv.slice(2)];
  const env = { ...process.env, SKEP_NODE_DIR: folder, PATH: `${binaries}:${process.env.PATH}` };
  const { status } = spawnSync('unshare', [...inside, ...suite], { cwd: ROOT, stdio: 'inherit', env });
  process.exitCode = status ?? 1;
}
