// Pods of the suite that call others: from outside of the cluster, NetworkPolicies would not be asked.

import { expect } from 'vitest';
import { IMAGES } from './images.ts';
import { kubectl } from './place.ts';

export interface Caller {
  /** `connected`, or the code of the error. */
  connect(host: string, port: number): string | undefined;
  /** Standard output of our program; undefined if it fails. */
  skep(...args: readonly string[]): string | undefined;
}

/** A pod of our own image that does nothing until it is told to, and fits the level `restricted`. */
export function startCaller(namespace: string, name: string, labels: Readonly<Record<string, string>>): Caller {
  const container = {
    ...{ name: 'caller', image: IMAGES.skep, command: ['sleep', 'infinity'] },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const spec = {
    ...{ containers: [container], terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
  };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec };
  expect(kubectl(['apply', '-f', '-'], JSON.stringify(pod))).toBeDefined();
  const ready = ['-n', namespace, 'wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s'];
  expect(kubectl(ready)).toBeDefined();
  const run = (...command: readonly string[]): string | undefined =>
    kubectl(['-n', namespace, 'exec', name, '--', ...command])?.trim();
  return {
    connect: (host, port) => run('node', '-e', CONNECT, host, String(port)),
    skep: (...args) => run('skep', ...args),
  };
}

/** A dropped connection is as refused as one that is answered so. */
const CONNECT = `
const [host, port] = process.argv.slice(1);
const socket = require('node:net').connect({ host, port, timeout: 3000 });
const end = (said) => { console.log(said); process.exit(0); };
socket.on('connect', () => end('connected')).on('error', ({ code }) => end(code)).on('timeout', () => end('ETIMEDOUT'));
`;

/** A connection that a policy refuses. */
export const REFUSED = /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH)$/;
