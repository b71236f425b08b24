// Starts a Git server that pods reach by name over SSH, instead of the server that docs/install.md names.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createRepository, type TestRepository } from '../harness/git-server.ts';
import { ADDRESS, FOLDER, kubectl } from './place.ts';

export const GIT_HOST = 'git.hosting.svc.cluster.local';

/** Serves `git@GIT_HOST:platform/fleet.git` to the keys in `authorizedFile`, which is read at each connection. */
export function startGitHost(authorizedFile: string): TestRepository {
  const folder = join(FOLDER, 'run/git');
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  // This process has its own mount namespace, so the changed /etc/passwd affects only this process.
  const accounts = join(folder, 'passwd');
  writeFileSync(accounts, `${readFileSync('/etc/passwd', 'utf8').trimEnd()}\ngit:*:0:0::${home}:/bin/sh\n`);
  execFileSync('mount', ['--bind', accounts, '/etc/passwd']);
  mkdirSync('/run/sshd', { recursive: true });
  const hostKey = join(folder, 'host');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', hostKey]);
  const settings = {
    ...{ ListenAddress: ADDRESS, HostKey: hostKey, AuthorizedKeysFile: authorizedFile, StrictModes: 'no' },
    ...{ UsePAM: 'no', PasswordAuthentication: 'no', KbdInteractiveAuthentication: 'no', PidFile: 'none' },
  };
  const file = join(folder, 'sshd_config');
  writeFileSync(
    file,
    Object.entries(settings)
      .map((setting) => `${setting.join(' ')}\n`)
      .join(''),
  );
  expect(kubectl(['apply', '-f', '-'], nameOfHost())).toBeDefined();
  // The end of the process namespace also ends sshd.
  spawn('/usr/sbin/sshd', ['-D', '-f', file], { stdio: 'ignore' }).unref();
  return createRepository(join(folder, 'work'), join(home, 'platform/fleet.git'));
}

/** Returns a Service without pods whose name resolves to the node's address. */
function nameOfHost(): string {
  const metadata = { name: 'git', namespace: 'hosting' };
  const labels = { 'kubernetes.io/service-name': 'git' };
  const port = { name: 'ssh', port: 22, protocol: 'TCP' };
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: metadata.namespace } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: 'None', ports: [port] } },
    {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', ports: [port] },
      ...{ metadata: { ...metadata, labels }, endpoints: [{ addresses: [ADDRESS], conditions: { ready: true } }] },
    },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}
