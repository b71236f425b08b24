// Several sources of one instance: each within its limits, without taking anything away from another.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRepository } from '#adapters/git/repository.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { reconcile } from '#reconciler/run/run.ts';
import { formatId } from '#std/problem.ts';
import { type TestRepository, temporaryFolder } from '../../harness/git-server.ts';
import { optionsOf, startWorld, type World } from '../../harness/world.ts';
import { GROUP, NAMESPACE, server } from './fleet.ts';

const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test' });
const folder = temporaryFolder();
let world: World;
let team: TestRepository;

beforeAll(async () => {
  world = await startWorld();
  team = world.git.createRepository('team.git');
});

afterAll(async () => {
  await Promise.all([world.close(), outbound.close()]);
  folder.remove();
});

function source(name: string, settings: Partial<FleetSource> = {}): FleetSource {
  const repository = openRepository({
    repository: `${world.git.url}/${name}.git`,
    ref: { branch: 'main' },
    dir: `${folder.path}/${name}`,
    outbound,
    allowFiles: false,
    clock: systemClock,
  });
  return { name, path: '', repository, ...settings };
}

async function run(sources: readonly FleetSource[]): Promise<RunResult> {
  const kept = { cache: new Map<string, unknown>(), remembered: new Map<string, string>() };
  const deps = {
    cluster: world.client,
    clock: systemClock,
    sources,
    ...kept,
    random: randomBytes,
    digestKey: openDigestKey(world.client, 'test', 'default'),
    progress: () => undefined,
  };
  return await reconcile(deps, optionsOf({ waitSeconds: 0 }));
}

/** Made, changed, held, deleted and complained about. */
function reported({ outcomes, plan, problems, failures }: RunResult): string[] {
  return [
    ...outcomes
      .filter(({ resource, action }) => action !== 'unchanged' && !(action === 'created' && resource.kind === 'Role'))
      .map(({ action, resource }) => `${action} ${formatId(resource)}`),
    ...plan.held.map(({ resource, reason }) => `held ${formatId(resource)}: ${reason}`),
    ...problems.map(({ code, place, message }) => `${code} ${place?.file ?? ''}:${place?.line ?? ''} ${message}`),
    ...failures.map(({ code }) => code),
  ].sort();
}

function configMap(name: string, namespace: string, value = 'v'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\ndata: {k: ${value}}\n`;
}

const TEAM = { allow: { namespaces: ['team-*', 'tools'], kinds: ['ConfigMap', 'MCP*', 'Namespace'] } };

test('what is beyond the limits of its source is told with its place, and not applied', async () => {
  world.fleet.commit({ 'base.yaml': NAMESPACE });
  team.commit({
    'team.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n',
    'good.yaml': configMap('good', 'team-a'),
    'system.yaml': configMap('evil', 'kube-system'),
    'role.yaml': 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: evil}\nrules: []\n',
  });
  expect(reported(await run([source('fleet'), source('team', TEAM)]))).toEqual([
    'created Namespace/team-a',
    'created Namespace/tools',
    'created team-a/ConfigMap/good',
    expect.stringMatching(
      /^source-not-allowed role.yaml:2 source team may declare no ClusterRole: its allow.kinds are/,
    ),
    expect.stringMatching(/^source-not-allowed system.yaml:5 source team may declare nothing in namespace kube-system/),
  ]);
});

test('what lives and is now beyond the limits stays, declared or not, and so does what it became', async () => {
  team.commit({
    'system.yaml': undefined,
    'role.yaml': undefined,
    'server.yaml': `${GROUP}---\n${server('almanac')}`,
    'shared.yaml': configMap('shared', 'tools'),
  });
  const sources = [source('fleet'), source('team', TEAM)];
  expect(reported(await run(sources))).toContain('created tools/MCPServer/almanac');
  team.commit({ 'shared.yaml': undefined, 'good.yaml': configMap('good', 'team-a', 'changed') });
  const narrowed = { allow: { ...TEAM.allow, namespaces: ['team-*'] } };
  const after = await run([source('fleet'), source('team', narrowed)]);
  const lines = reported(after);
  expect(lines.filter((line) => line.startsWith('deleted'))).toEqual([]);
  expect(lines).toContain('configured team-a/ConfigMap/good');
  expect(lines).toContain(
    'held tools/ConfigMap/shared: source team may not declare such an object (sources[].allow of skep.yaml)',
  );
  expect(lines.filter((line) => line.startsWith('source-not-allowed server.yaml'))).toHaveLength(2);
  const workload = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'tools', name: 'almanac' };
  expect(await world.client.get(workload)).toBeDefined();
  // Within the limits again, what nothing declares goes.
  expect(reported(await run(sources))).toContain('deleted tools/ConfigMap/shared');
});

test('a source cannot block what another one declares by declaring it too, beyond its limits', async () => {
  world.fleet.commit({ 'base.yaml': NAMESPACE, 'own.yaml': configMap('own', 'kube-system') });
  const sources = [source('fleet'), source('team', TEAM)];
  expect(reported(await run(sources))).toContain('created kube-system/ConfigMap/own');
  team.commit({
    'steal.yaml': configMap('own', 'kube-system', 'stolen'),
    'broken.yaml': `${configMap('own', 'kube-system')}extra: 1\n`,
  });
  world.fleet.commit({ 'own.yaml': configMap('own', 'kube-system', 'new') });
  const lines = reported(await run(sources));
  expect(lines).toContain('configured kube-system/ConfigMap/own');
  const own = await world.client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'own' });
  expect(own?.data).toEqual({ k: 'new' });
  team.commit({ 'steal.yaml': undefined, 'broken.yaml': undefined });
});

test('what is ignored is not read, as if it were not there: also a link, which else would suspend deletions', async () => {
  team.commit({
    'drafts/bad.yaml': 'kind: [',
    'docs/drafts/more.yaml': configMap('draft', 'team-a'),
    'docs/notes.yaml': configMap('notes', 'team-a'),
  });
  const link = team.git('hash-object', '-w', 'good.yaml');
  team.git('update-index', '--add', '--cacheinfo', `120000,${link},drafts/link.yaml`);
  team.git('commit', '--quiet', '--message', 'a link');
  team.publish();
  const settings = { ...TEAM, ignore: ['**/drafts/**', 'good.y?ml'] };
  expect(reported(await run([source('fleet'), source('team', settings)]))).toEqual([
    'created team-a/ConfigMap/notes',
    'deleted team-a/ConfigMap/good',
  ]);
});

test('a path below a link or a submodule is refused, and nothing of the source is deleted', async () => {
  team.git('reset', '--quiet', '--hard');
  const link = team.git('hash-object', '-w', 'good.yaml');
  team.git('update-index', '--add', '--cacheinfo', `120000,${link},linked`);
  team.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendored`);
  team.git('commit', '--quiet', '--message', 'links');
  team.publish();
  const rows = [
    { path: 'linked', why: 'linked" is a symlink' },
    { path: 'linked/prod', why: 'linked" is a symlink' },
    { path: 'vendored/prod', why: 'vendored" is a submodule' },
  ];
  for (const { path, why } of rows) {
    const result = await run([source('fleet'), source('team', { ...TEAM, path })]);
    expect(reported(result)).toEqual(
      expect.arrayContaining([
        'held team-a/ConfigMap/notes: source team: it could not be read',
        'source-path-not-found',
      ]),
    );
    expect(result.failures.map(({ message }) => message)).toEqual([expect.stringContaining(why)]);
  }
});

test('a definition that a source may not declare judges nothing of it either', async () => {
  const schema = '{type: object, properties: {spec: {type: object, properties: {size: {type: integer, maximum: 1}}}}}';
  team.git('reset', '--quiet', '--hard');
  team.commit({
    'definition.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ${schema}}}]
`,
    'gadget.yaml':
      'apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g, namespace: team-a}\nspec: {size: 2}\n',
  });
  const settings = { ...TEAM, allow: { ...TEAM.allow, kinds: ['ConfigMap', 'Gadget'] } };
  const codes = (await run([source('fleet'), source('team', settings)])).problems.map(({ code }) => code);
  expect(codes).toContain('source-not-allowed');
  expect(codes).not.toContain('schema-range');
  expect(codes).toContain('unknown-kind');
});

test('a lock that its source may not declare opens nothing: the server that needs it is refused', async () => {
  const locked = server('locked').replace('name: locked', 'name: locked, annotations: {skep.dev/tools-lock: enforce}');
  const lock = `apiVersion: skep.dev/v1
kind: ToolLock
metadata: {name: locked, namespace: tools}
spec: {server: {kind: MCPServer}, tools: [{name: read}]}
`;
  team.git('reset', '--quiet', '--hard');
  team.commit({ 'lock.yaml': lock, 'locked.yaml': locked });
  const refused = await run([source('fleet'), source('team', TEAM)]);
  const codes = (result: typeof refused) => result.problems.map(({ code, place }) => `${place?.file} ${code}`);
  expect(codes(refused)).toContain('lock.yaml source-not-allowed');
  const config = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'tools', name: 'locked-runconfig' };
  expect(await world.client.get(config)).toBeUndefined();
  const more = { allow: { ...TEAM.allow, kinds: [...TEAM.allow.kinds, 'ToolLock'] } };
  expect(codes(await run([source('fleet'), source('team', more)])).filter((line) => /lock/.test(line))).toEqual([]);
  expect(JSON.stringify(await world.client.get(config))).toContain('tools_lock');
  team.commit({ 'lock.yaml': undefined, 'locked.yaml': undefined });
});

test('what a manifest says about whose it is does not count', async () => {
  team.git('reset', '--quiet', '--hard');
  team.commit({
    'definition.yaml': undefined,
    'gadget.yaml': undefined,
    'liar.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: liar
  namespace: team-a
  labels: {skep.dev/source: fleet, skep.dev/owner: mcpserver.other, applyset.kubernetes.io/part-of: applyset-x}
`,
  });
  await run([source('fleet'), source('team', TEAM)]);
  const liar = await world.client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'team-a', name: 'liar' });
  const { 'applyset.kubernetes.io/part-of': set, ...labels } = liar?.metadata.labels ?? {};
  expect(labels).toEqual({ 'skep.dev/source': 'team' });
  expect(set).not.toBe('applyset-x');
});

test('a commit approves and suspends nothing, also of other instances', async () => {
  const kept = ['skep-test-approval', 'skep-other-approval', 'skep-other-suspension', 'skep-test'];
  const like = ['skep-tests', 'skep-test-settings', 'other-approval'];
  world.fleet.commit({ 'kept.yaml': [...kept, ...like].map((name) => configMap(name, 'default')).join('---\n') });
  const result = await run([source('fleet')]);
  expect(result.problems.map(({ code }) => code)).toEqual(kept.map(() => 'record-declared'));
  expect(reported(result).filter((line) => line.startsWith('created'))).toEqual(
    like.map((name) => `created default/ConfigMap/${name}`).sort(),
  );
});
