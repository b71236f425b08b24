// Defines addresses and files of the suite's node, and runs kubectl as administrator.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const FOLDER = process.env.SKEP_NODE_DIR ?? join(tmpdir(), 'skep-node');
export const KUBECONFIG = join(FOLDER, 'run/pki/admin.kubeconfig');
export const ADDRESS = '10.200.0.1';
export const DNS = '10.96.0.10';
/** Issuer that kubeadm, kind and k3s configure. It differs from the default of `oidcConfig`. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';

/** Program that enforces NetworkPolicies, if the folder SKEP_NODE_BINARIES contains it. */
export const ENFORCER = join(process.env.SKEP_NODE_BINARIES ?? '', 'kube-router');
export const hasEnforcer = existsSync(ENFORCER);

/** Returns the standard output of kubectl. undefined if kubectl fails. */
export function kubectl(args: readonly string[], input?: string): string | undefined {
  const { status, stdout } = spawnSync('kubectl', ['--kubeconfig', KUBECONFIG, ...args], { encoding: 'utf8', input });
  return status === 0 ? stdout : undefined;
}
