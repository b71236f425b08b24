// What the policies of the instance deny is not applied and stays as it exists; of what they deny of children, the children.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPolicies } from '#kubernetes/rules/policy/read.ts';
import type { RegistryDeps } from '#reconciler/run/catalogue/registries.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { GROUP, members, NAMESPACE, publish, versionsOf } from './fleet.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

function policies(resource: string, group: string, expression: string, actions = ['Deny'], more: object = {}) {
  const rules = [{ apiGroups: [group], apiVersions: ['*'], operations: ['CREATE'], resources: [resource] }];
  const validations = [{ expression, message: 'nobody wants it' }];
  const object = (kind: string, spec: object): string =>
    JSON.stringify({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'no' }, spec });
  const text = [
    object('ValidatingAdmissionPolicy', { matchConstraints: { resourceRules: rules, ...more }, validations }),
    object('ValidatingAdmissionPolicyBinding', { policyName: 'no', validationActions: actions }),
  ].join('\n---\n');
  return readPolicies([{ path: 'own.yaml', text }]).set;
}

async function versionOfClock(): Promise<string | undefined> {
  return versionsOf(await members(world.client, 'test'))['tools/MCPServer/clock'];
}

const NO_CLOCK = policies('mcpservers', 'toolhive.stacklok.dev', "!object.spec.image.endsWith(':2.0.0')");

test('a denied change is held as it lives, the rest goes on, and the exit code is 4', async () => {
  publish(world.fleet, { clock: '1.0.0' });
  expect(exitCodeOf(await world.run({ policies: NO_CLOCK }))).toBe(0);
  const before = await versionOfClock();

  publish(world.fleet, { clock: '2.0.0', dice: '1.0.0' });
  const result = await world.run({ policies: NO_CLOCK });
  expect(exitCodeOf(result)).toBe(4);
  const [denial] = result.problems;
  expect(denial).toMatchObject({ code: 'policy/no', message: 'nobody wants it', pointer: '/spec/image' });
  expect(denial?.place?.file).toMatch(/clock/);
  expect(await versionOfClock()).toBe(before);
  expect([...(await members(world.client, 'test')).keys()]).toContain('tools/MCPServer/dice');
});

test('a denial of a child holds all children of its owner, which is applied itself', async () => {
  publish(world.fleet, { clock: '1.0.0', dice: '1.0.0', late: '1.0.0' });
  const result = await world.run({
    policies: policies('services', '', "!object.metadata.name.contains('late')"),
  });
  expect(result.failures).toEqual([]);
  expect(exitCodeOf(result)).toBe(4);
  expect(result.problems.map(({ code, resource }) => `${code} ${resource?.kind}/${resource?.name}`)).toContain(
    'policy/no MCPServer/late',
  );
  const { body } = await world.cluster.send(
    'GET',
    '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/late',
  );
  expect(JSON.stringify(body.status)).toContain('ChildDenied');
  const kept = [...(await members(world.client, 'test')).keys()].filter((key) => key.includes('late'));
  expect(kept).toEqual(['tools/MCPServer/late']);
});

test('a warning holds nothing', async () => {
  const warned = policies('mcpservers', 'toolhive.stacklok.dev', 'false', ['Warn']);
  const result = await world.run({ policies: warned });
  expect(exitCodeOf(result)).toBe(0);
  expect(result.problems.map(({ severity, code }) => `${severity} ${code}`)).toContain('warning policy/no');
});

test('a namespace whose manifest is denied gives nobody the label that it declares', async () => {
  publish(world.fleet, { clock: '1.0.0' });
  await world.run();
  const before = await versionOfClock();
  const named = { apiGroups: ['', 'toolhive.stacklok.dev'], apiVersions: ['*'], operations: ['CREATE'] };
  const matching = { resourceRules: [{ ...named, resources: ['namespaces', 'mcpservers'] }] };
  // In the namespace, what is labelled `free` may do anything; no one may label it so.
  const expression =
    "object.kind == 'Namespace' ? !('free' in object.metadata.?labels.orValue({})) : 'free' in namespaceObject.metadata.?labels.orValue({}) || !object.spec.image.endsWith(':2.0.0')";
  publish(world.fleet, { clock: '2.0.0' });
  world.fleet.commit({
    'cluster/base.yaml': `${NAMESPACE.replace('{name: tools}', '{name: tools, labels: {free: "true"}}')}---\n${GROUP}`,
  });
  const result = await world.run({ policies: policies('namespaces', '', expression, ['Deny'], matching) });
  expect(result.problems.map(({ resource }) => resource?.kind).sort()).toEqual(['MCPServer', 'Namespace']);
  expect(await versionOfClock()).toBe(before);
});

test('objects of kinds that only the cluster defines are judged, too', async () => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  await world.client.apply(definition, { force: true });
  publish(world.fleet, {});
  world.fleet.commit({
    'cluster/widget.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one, namespace: tools}\n',
  });
  const result = await world.run({ policies: policies('*', '*', "object.kind != 'Widget'") });
  expect(result.problems.map(({ code }) => code)).toContain('policy/no');
  expect([...(await members(world.client, 'test')).keys()]).not.toContain('tools/Widget/one');
});

test('a registry whose manifest is denied is not synced as it says', async () => {
  const registry = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: tools}
spec:
  registries: [{name: read, configMapRef: {name: servers, key: servers.json}}]
`;
  publish(world.fleet, {});
  world.fleet.commit({ 'cluster/registry.yaml': registry });
  const modes: string[] = [];
  const unavailable = new Failure('database-unreachable', 'nobody is there');
  const registries: RegistryDeps = {
    sourceFor: () => {
      throw unavailable;
    },
    storeFor: async (_kind, _registry, _view, mode) => {
      modes.push(mode);
      throw unavailable;
    },
  };
  const no = policies('mcpregistries', 'toolhive.stacklok.dev', 'false');
  const result = await world.run({ registries, policies: no, waitSeconds: 0 });
  expect(result.problems.map(({ code }) => code)).toContain('policy/no');
  expect(modes.length).toBeGreaterThan(0);
  expect(modes).not.toContain('sync');
});
