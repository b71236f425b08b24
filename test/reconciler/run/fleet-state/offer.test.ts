// What a server offers to whom, out of Git: reviewed tools under the names of clients, and policies unless they are encrypted.

import { expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { offerOf } from '#reconciler/run/fleet-state/offer.ts';
import { readableResources } from '#reconciler/run/observe/readable-resources.ts';
import { openViews } from '#reconciler/run/observe/view.ts';
import type { Json, JsonObject } from '#std/json.ts';

const GROUP = 'toolhive.stacklok.dev';
const place = () => ({ file: 'a.yaml', line: 1, column: 1 });

function resource(kind: string, name: string, spec: JsonObject, apiVersion = `${GROUP}/v1beta1`): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace: 'docs' }, spec };
}

function server(spec: JsonObject): KubeObject {
  return resource('MCPServer', 'wiki', { image: 'wiki:1', transport: 'stdio', ...spec });
}

const LOCK = resource(
  'ToolLock',
  'wiki',
  { server: { kind: 'MCPServer', image: 'wiki:1' }, tools: [{ name: 'read' }, { name: 'write' }] },
  'skep.dev/v1',
);

const configMap = (name: string, data: Record<string, Json>): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'docs' } },
  data,
});

interface Given {
  readonly of: KubeObject;
  readonly others?: readonly KubeObject[];
  readonly locks?: readonly KubeObject[];
  readonly desired?: readonly KubeObject[];
  /** Names of encrypted objects. */
  readonly sealed?: readonly string[];
}

function offered({ of, others = [], locks = [], desired = [], sealed = [] }: Given) {
  const loaded = [of, ...others].map((object) => {
    const [found] = readableResources(KINDS, GROUP, [object]);
    const isSealed = sealed.includes(object.metadata.name);
    return {
      ...{ id: idOf(object), object, source: 'fleet', place },
      ...(found && { kind: found.kind, defaulted: found.resource }),
      ...(isSealed && { sealed: true as const }),
    };
  });
  const [own] = loaded;
  if (own === undefined) throw new Error('no resource');
  const view = openViews({ apiGroup: GROUP, layers: [[of, ...others]], locks })('docs');
  const declared = (kind: string, name: string) => loaded.find(({ id }) => id.kind === kind && id.name === name);
  const objects = desired.map((object) => ({ object, id: idOf(object), key: keyOf(idOf(object)) }));
  return offerOf({ loaded: own, desired: objects, view, declared });
}

test('reviewed tools are shown under the names that clients see', () => {
  expect(offered({ of: server({}), locks: [LOCK] })).toMatchObject({
    access: { type: 'anonymous' },
    tools: [{ name: 'read' }, { name: 'write' }],
    unlisted: [],
  });
});

test('without a lock Git does not say which tools there are', () => {
  expect(offered({ of: server({}) })).toMatchObject({ tools: [], unlisted: [''] });
});

const POLICIES = JSON.stringify({
  version: '1.0',
  type: 'cedarv1',
  cedar: { policies: ['permit(principal, action, resource);'] },
});
const AUTHZ = { authzConfig: { type: 'configMap', configMap: { name: 'rules', key: 'authz.json' } } };
const MOUNTS: KubeObject = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'wiki', namespace: 'docs' } },
  spec: { template: { spec: { volumes: [{ name: 'authz-config', configMap: { name: 'rules' } }] } } },
};

test('policies are shown as Git declares them, and are not if they are encrypted or elsewhere', () => {
  const rules = configMap('rules', { 'authz.json': POLICIES });
  const given = { of: server(AUTHZ), desired: [MOUNTS] };
  expect(offered({ ...given, others: [rules] })?.policies).toEqual(['permit(principal, action, resource);']);
  const encrypted = offered({ ...given, others: [rules], sealed: ['rules'] });
  expect([encrypted?.policies, encrypted?.policiesUnread]).toEqual([undefined, 'ConfigMap rules is encrypted in Git']);
  expect(offered(given)?.policiesUnread).toBe('ConfigMap rules is not in Git');
});

test('a resource that is encrypted, or serves no clients, has no offer', () => {
  expect(offered({ of: server({}), locks: [LOCK], sealed: ['wiki'] })).toBeUndefined();
  expect(offered({ of: resource('MCPGroup', 'team', {}) })).toBeUndefined();
});

test('a virtual server shows the tools of its members with their names at the member', () => {
  const members = resource('MCPServer', 'wiki', { image: 'wiki:1', transport: 'stdio', groupRef: { name: 'team' } });
  const open = resource('MCPServer', 'mail', { image: 'mail:1', transport: 'stdio', groupRef: { name: 'team' } });
  const desk = resource('VirtualMCPServer', 'desk', {
    groupRef: { name: 'team' },
    incomingAuth: { type: 'anonymous' },
    config: {},
  });
  const shown = offered({ of: desk, others: [members, open, resource('MCPGroup', 'team', {})], locks: [LOCK] });
  expect(shown?.tools).toEqual([
    { name: 'wiki_read', member: 'wiki', own: 'read' },
    { name: 'wiki_write', member: 'wiki', own: 'write' },
  ]);
  expect(shown?.unlisted).toEqual(['mail']);
});
