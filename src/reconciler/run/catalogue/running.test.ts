import { expect, test } from 'vitest';
import type { RunningServer } from '#contracts/running-servers.ts';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { KINDS } from '../../kinds/index.ts';
import { openViews } from '../observe/view.ts';
import type { Health } from '../resolve/resolve.ts';
import type { RegistryDeps } from './registries.ts';
import { runningServers } from './running.ts';

const API_GROUP = 'toolhive.stacklok.dev';

const REGISTRIES: RegistryDeps = {
  sourceFor: () => ({ read: async () => 'unchanged' }),
  storeFor: () => Promise.reject(new Error('no store is opened')),
};

function resource(kind: string, name: string, spec: JsonObject, status: JsonObject = {}): KubeObject {
  return { apiVersion: `${API_GROUP}/v1alpha1`, kind, metadata: { name, namespace: 'tools' }, spec, status };
}

interface Given {
  readonly byHand?: { readonly object: KubeObject; readonly health: Health };
  /** Objects in the cluster that are not MCP servers of this instance. */
  readonly others?: readonly KubeObject[];
  readonly unlisted?: readonly string[];
  readonly registries?: RegistryDeps | undefined;
}

function running(owned: readonly KubeObject[], given: Given = {}): readonly RunningServer[] | undefined {
  const { byHand, others = [], unlisted = [] } = given;
  const objects = [...owned, ...others, ...(byHand === undefined ? [] : [byHand.object])];
  const standings =
    byHand === undefined ? [] : [{ health: byHand.health, loaded: { id: idOf(byHand.object), byHand: true } } as const];
  const observed = {
    living: (id: Parameters<typeof keyOf>[0]) => objects.find((each) => keyOf(idOf(each)) === keyOf(id)),
    views: openViews({ apiGroup: API_GROUP, layers: [objects] }),
    unlisted: new Set(unlisted),
    departing: [],
    owned: owned.flatMap((object) =>
      KINDS.filter(({ kind }) => kind === object.kind).map((kind) => ({ kind, object })),
    ),
  };
  const registries = 'registries' in given ? given.registries : REGISTRIES;
  const options = { kinds: KINDS, apiGroup: API_GROUP };
  return runningServers({ registries }, options, { standings }, { observed, changes: [] });
}

function names(servers: readonly RunningServer[] | undefined): readonly string[] | undefined {
  return servers?.map(({ name, ready }) => (ready ? `${name} ready` : name));
}

const READY = { conditions: [{ type: 'Ready', status: 'True' }] };
const CLOCK = resource('MCPServer', 'clock', { image: 'clock:1' }, READY);

test('a server has the attestations of its image, from its workload', () => {
  const name = `clock:1@sha256:${'a'.repeat(64)}`;
  const provenance = [{ predicateType: 'https://slsa.dev/provenance/v1', repository: 'https://github.com/acme/clock' }];
  const workload = (image: string): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      ...{ name: 'clock', namespace: 'tools' },
      annotations: { 'skep.dev/image-provenance': JSON.stringify({ [image]: provenance }) },
    },
  });
  const shown = (image: string) => running([CLOCK], { others: [workload(image)] })?.map((each) => each.provenance);
  expect([shown(name), shown('clock:1'), shown('clock:11')]).toEqual([[provenance], [provenance], [undefined]]);
});

test('a server whose definitions differ from its lock has the differences', () => {
  const locked = { type: 'ToolsLocked', status: 'False', reason: 'DefinitionsHeldBack', message: 'tool send (new)' };
  const drifted = { conditions: [...READY.conditions, locked] };
  const agreeing = { conditions: [...READY.conditions, { ...locked, status: 'True' }] };
  const drifts = (status: JsonObject) =>
    running([resource('MCPServer', 'clock', { image: 'clock:1' }, status)])?.map(({ drift }) => drift);
  expect([drifts(drifted), drifts(agreeing)]).toEqual([['tool send (new)'], [undefined]]);
});

test('an object that was stored without defaults is shown with defaults, and with the readiness in its status', () => {
  const office = resource('VirtualMCPServer', 'office', {
    incomingAuth: { type: 'anonymous' },
    config: { groupRef: 'g' },
  });
  const faraway = resource('MCPRemoteProxy', 'faraway', {
    ...{
      remoteURL: 'https://far.example.com',
      oidcConfig: { type: 'inline', inline: { issuer: 'https://id.example.com' } },
    },
  });
  const servers = running([office, CLOCK, faraway]);
  expect(names(servers)).toEqual(['clock ready', 'faraway', 'office']);
  expect(servers?.map(({ url }) => URL.parse(url)?.port)).toEqual(['8080', '8080', '4483']);
});

test.each([
  ['a virtual server without incomingAuth', resource('VirtualMCPServer', 'x', { config: { groupRef: 'g' } })],
  ['a server without an image', resource('MCPServer', 'x', {})],
  ['a server whose port is a text', resource('MCPServer', 'x', { image: 'x', proxyPort: 'many' })],
  ['a proxy without an address', resource('MCPRemoteProxy', 'x', {})],
  ['a name that no host name can have', resource('MCPServer', '[', { image: 'x' })],
  ['an object without a spec', { ...CLOCK, metadata: { name: 'x', namespace: 'tools' }, spec: undefined }],
])('%s is left out, and other servers are shown', (_what, object) => {
  expect(names(running([object, CLOCK]))).toEqual(['clock ready']);
  expect(names(running([CLOCK], { byHand: { object, health: 'refused' } }))).toEqual(['clock ready']);
});

test('a server that refers to an unreadable object is shown', () => {
  const spec = { image: 'x', groupRef: 'g', toolConfigRef: { name: 't' }, externalAuthConfigRef: { name: 'a' } };
  const office = { incomingAuth: { type: 'anonymous' }, config: { groupRef: 'g' } };
  const others = [
    resource('MCPToolConfig', 't', { toolsOverride: { now: null } }),
    resource('MCPExternalAuthConfig', 'a', { type: 'tokenExchange' }),
    resource('MCPServer', 'member', { groupRef: 'g', oidcConfig: 'none' }),
    { apiVersion: `${API_GROUP}/v1alpha1`, kind: 'MCPRemoteProxy', metadata: { name: 'empty', namespace: 'tools' } },
  ];
  const owned = [resource('MCPServer', 'x', spec), resource('VirtualMCPServer', 'office', office)];
  expect(names(running(owned, { others }))).toEqual(['office', 'x']);
});

test('a server that was applied by hand is shown unless it is kept unchanged as invalid', () => {
  const object = { ...CLOCK, metadata: { name: 'by-hand', namespace: 'tools' } };
  expect(names(running([], { byHand: { object, health: 'healthy' } }))).toEqual(['by-hand ready']);
  expect(names(running([], { byHand: { object, health: 'held' } }))).toEqual([]);
});

test('the servers are unknown if the LIST of one of our kinds failed', () => {
  expect(names(running([CLOCK], { unlisted: ['Widget'] }))).toEqual(['clock ready']);
  expect(running([CLOCK], { unlisted: ['MCPServer'] })).toBeUndefined();
});

test('an instance without catalogues does not look for running servers', () => {
  expect(running([CLOCK], { registries: undefined })).toBeUndefined();
});
