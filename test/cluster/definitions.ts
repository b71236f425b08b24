// Our kinds in an API group of one test run, so that the definitions of a cluster in use are left alone.

import { randomBytes } from 'node:crypto';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { eventually, type SuiteServer } from './server.ts';

/** A group that no other has. */
export function newGroup(name: string): string {
  return `${name}-${randomBytes(4).toString('hex')}.example.com`;
}

/** Defines our kinds in the group and waits until they are served; they go with the server. */
export async function defineKinds(server: SuiteServer, client: ConnectedCluster, group: string): Promise<void> {
  for (const kind of KINDS) {
    const definition = crd(kind, group);
    server.later({ apiVersion: definition.apiVersion, kind: definition.kind, name: definition.metadata.name });
    await client.apply(definition, { force: false });
  }
  for (const { kind, plural } of KINDS) {
    const resource = { apiVersion: `${group}/v1alpha1`, kind, plural, namespaced: true, verbs: [] };
    await eventually(
      () => isServed(client, resource),
      (served) => served,
    );
  }
  client.refresh();
}

async function isServed(client: ConnectedCluster, resource: ApiResource): Promise<boolean> {
  try {
    await client.list(resource);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === 'cluster-not-found') return false;
    throw error;
  }
}
