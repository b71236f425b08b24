// Starts pods that connect to other pods, because NetworkPolicies do not apply to connections from the node itself.

import { expect } from 'vitest';
import { IMAGES } from './images.ts';
import { kubectl } from './place.ts';

export interface Caller {
  /** Tries to connect. Returns `connected`, or the code of the error. */
  connect(host: string, port: number): string | undefined;
  /** Runs `skep` in the pod. Returns its standard output, or undefined if it fails. */
  skep(...args: readonly string[]): string | undefined;
}

/** Starts an idle pod with the skep image, which fits the level `restricted`. */
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

/** Script that prints the result of a connection. A dropped connection is reported as ETIMEDOUT. */
const CONNECT = `
const [host, port] = process.argv.slice(1);
const socket = require('node:net').connect({ host, port, timeout: 3000 });
const end = (said) => { console.log(said); process.exit(0); };
socket.on('connect', () => end('connected')).on('error', ({ code }) => end(code)).on('timeout', () => end('ETIMEDOUT'));
`;

/** Results of a connection that a policy refuses. */
export const REFUSED = /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH)$/;
