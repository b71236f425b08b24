// Secrets with values that are too long to be in memory: everything is decided and written as if they were.

import { hash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readPolicies } from '#kubernetes/rules/policy/read.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

const OPTIONS = { waitSeconds: 0, maxDeletes: 100, maxDeletesPercent: 100 };
const CHECKSUM = 'toolhive.stacklok.dev/secrets-checksum';
const [FIRST, SECOND, THEIRS] = [200_000, 200_000, 200_000].map((size) => randomBytes(size).toString('base64'));

let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
});
afterEach(async () => {
  publish({});
  await world.run(OPTIONS);
});
afterAll(() => world.close());

function secret(name: string, content = FIRST, member = 'data', kind = 'Secret') {
  return { apiVersion: 'v1', kind, metadata: { name, namespace: 'tools' }, [member]: { content, small: 'aGk=' } };
}

/** Files by name; JSON is YAML. */
function publish(files: Readonly<Record<string, object | string>>): void {
  const before = world.fleet.git('ls-files', 'cluster').split('\n');
  const gone = before.filter((path) => path !== '').map((path): [string, undefined] => [path, undefined]);
  const now = Object.entries(files).map(([name, content]): [string, string] => [
    `cluster/${name}`,
    typeof content === 'string' ? content : `${JSON.stringify(content)}\n`,
  ]);
  world.fleet.commit({ ...Object.fromEntries(gone), 'cluster/base.yaml': NAMESPACE, ...Object.fromEntries(now) });
}

async function live(name: string, plural = 'secrets') {
  return (await world.cluster.send('GET', `/api/v1/namespaces/tools/${plural}/${name}`)).body;
}

function did({ outcomes }: RunResult): string[] {
  return outcomes
    .filter(({ resource }) => resource.kind !== 'Namespace')
    .map(({ action, resource, error }) => `${formatId(resource)} ${action}${error === undefined ? '' : error.message}`);
}

test('a Secret is created, found unchanged, changed, set back and deleted', async () => {
  publish({ 'a.json': secret('a') });
  expect(did(await world.run(OPTIONS))).toEqual(['tools/Secret/a created']);
  expect((await live('a')).data).toEqual({ content: FIRST, small: 'aGk=' });

  const unchanged = await world.run(OPTIONS);
  expect([did(unchanged), unchanged.plan.unchanged.map(({ name }) => name)]).toEqual([[], ['a', 'tools']]);

  publish({ 'a.json': secret('a', SECOND) });
  expect(did(await world.run(OPTIONS))).toEqual(['tools/Secret/a configured']);
  expect((await live('a')).data).toEqual({ content: SECOND, small: 'aGk=' });

  await world.cluster.send('PATCH', '/api/v1/namespaces/tools/secrets/a?fieldManager=them', {
    body: { data: { content: THEIRS } },
    contentType: 'application/merge-patch+json',
  });
  const back = await world.run(OPTIONS);
  expect(did(back)).toEqual(['tools/Secret/a configured']);
  expect(back.problems.map(({ code }) => code)).toEqual(['field-set-back']);
  expect((await live('a')).data).toEqual({ content: SECOND, small: 'aGk=' });
  expect(did(await world.run(OPTIONS))).toEqual([]);

  publish({});
  expect(did(await world.run(OPTIONS))).toEqual(['tools/Secret/a deleted']);
});

test('a Secret that somebody else has made is compared with its content, and taken over', async () => {
  await world.cluster.send('POST', '/api/v1/namespaces/tools/secrets?fieldManager=them', {
    body: secret('theirs', THEIRS),
  });
  publish({ 'a.json': secret('theirs') });
  expect(did(await world.run(OPTIONS))).toEqual(['tools/Secret/theirs configured']);
  expect((await live('theirs')).data).toEqual({ content: FIRST, small: 'aGk=' });
});

test('what stands for a value is never in a plan, a plan file or the cluster', async () => {
  publish({ 'a.json': secret('a') });
  const { plan } = await world.plan(OPTIONS);
  const [diff] = plan.batches.flatMap(({ changes }) => changes.filter(({ key }) => key.includes('Secret')));
  expect(diff?.diff).toEqual([]);
  const file = await world.planFile(OPTIONS);
  const applied = await world.applyPlan(file, OPTIONS);
  expect(did(applied)).toEqual(['tools/Secret/a created']);
  expect(JSON.stringify(await live('a'))).not.toContain('large/value');
  publish({ 'a.json': secret('a', SECOND) });
  const changed = await world.plan(OPTIONS);
  expect(JSON.stringify(changed.plan.batches.map(({ changes }) => changes.map(({ diff }) => diff)))).not.toContain(
    'large/value',
  );
});

test.each([
  { file: 'a.yaml', how: 'in YAML', text: `${yaml('a', FIRST)}---\n${yaml('b', SECOND)}` },
  { file: 'a.yaml', how: 'on several lines', text: folded('a', FIRST) + folded('b', SECOND) },
  {
    file: 'a.json',
    how: 'in a list',
    text: { kind: 'List', apiVersion: 'v1', items: [secret('a'), secret('b', SECOND)] },
  },
  {
    file: 'a.yaml',
    how: 'beside a comment that looks like one',
    text: `# ${THEIRS}\n${yaml('a', FIRST)}---\n${yaml('b', SECOND)}`,
  },
])('values arrive as they are written $how', async ({ file, text }) => {
  publish({ [file]: text });
  expect(did(await world.run(OPTIONS))).toEqual(['tools/Secret/a created', 'tools/Secret/b created']);
  expect([(await live('a')).data, (await live('b')).data]).toMatchObject([{ content: FIRST }, { content: SECOND }]);
  expect(did(await world.run(OPTIONS))).toEqual([]);
});

function yaml(name: string, content = ''): string {
  return `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: tools}\ndata:\n  content: ${content}\n`;
}

function folded(name: string, content = ''): string {
  const lines = content.match(/.{1,76}/g) ?? [];
  return `---\n${yaml(name, `|\n    ${lines.join('\n    ')}`)}`;
}

/** What somebody who knows how stand-ins look, and the value, could write in its place. */
function lookalike(value = ''): string {
  const text = `skep/large/value/${value.length}/${hash('sha256', value)}/`;
  return text.padEnd(Math.ceil(text.length / 4) * 4, '/');
}

test('what looks like the stand-in of a value is a value of its own, in Git and in the cluster', async () => {
  const declared = (content = ''): string => `# &a\n${yaml('a', FIRST)}  other: ${content}\n`;
  publish({ 'a.yaml': declared(lookalike(SECOND)), 'b.json': secret('b'), 'c.json': secret('c', lookalike(FIRST)) });
  await world.run(OPTIONS);
  expect((await live('a')).data).toEqual({ content: FIRST, other: lookalike(SECOND) });
  expect((await live('c')).data).toMatchObject({ content: lookalike(FIRST) });

  for (const [name, content] of [
    ['b', lookalike(FIRST)],
    ['c', FIRST],
  ])
    await world.cluster.send('PATCH', `/api/v1/namespaces/tools/secrets/${name}?fieldManager=them`, {
      body: { data: { content } },
      contentType: 'application/merge-patch+json',
    });
  expect(did(await world.run(OPTIONS))).toEqual(['tools/Secret/b configured', 'tools/Secret/c configured']);
  expect((await live('b')).data).toMatchObject({ content: FIRST });
  expect((await live('c')).data).toMatchObject({ content: lookalike(FIRST) });
});

test('a long value of a ConfigMap is shown by its length and its digest where it changes', async () => {
  publish({ 'a.json': secret('bytes', FIRST, 'binaryData', 'ConfigMap') });
  await world.run(OPTIONS);
  publish({ 'a.json': secret('bytes', SECOND, 'binaryData', 'ConfigMap') });
  const { plan } = await world.plan(OPTIONS);
  const shown = (value = ''): string => `(${value.length} characters of base64, SHA-256 ${hash('sha256', value)})`;
  expect(plan.batches.flatMap(({ changes }) => changes.flatMap(({ diff }) => diff))).toEqual([
    { path: '/binaryData/content', before: shown(FIRST), after: shown(SECOND) },
  ]);
});

test('text and bytes of ConfigMaps arrive as they are written', async () => {
  publish({
    'a.json': secret('text', FIRST, 'data', 'ConfigMap'),
    'b.json': secret('bytes', FIRST, 'binaryData', 'ConfigMap'),
    'c.json': secret('clear', FIRST, 'stringData'),
  });
  expect(did(await world.run(OPTIONS)).sort()).toEqual([
    'tools/ConfigMap/bytes created',
    'tools/ConfigMap/text created',
    'tools/Secret/clear created',
  ]);
  expect((await live('text', 'configmaps')).data).toEqual({ content: FIRST, small: 'aGk=' });
  expect((await live('bytes', 'configmaps')).binaryData).toEqual({ content: FIRST, small: 'aGk=' });
  expect((await live('clear')).data?.content).toBe(Buffer.from(FIRST ?? '').toString('base64'));
  expect(did(await world.run(OPTIONS))).toEqual([]);
});

test('pods follow a Secret that their server names, however long its values are', async () => {
  const server = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: clock, namespace: tools}
spec:
  image: images.example.com/clock:1.0.0
  secrets:
    - {name: named, key: content, targetEnvName: CONTENT}
`;
  async function checksum(): Promise<unknown> {
    const { body } = await world.cluster.send('GET', '/apis/apps/v1/namespaces/tools/statefulsets/clock');
    return body.spec?.template?.metadata?.annotations?.[CHECKSUM];
  }
  publish({ 'a.json': secret('named'), 'server.yaml': server });
  await world.run(OPTIONS);
  const before = await checksum();
  expect(before).toBeTypeOf('string');
  expect(did(await world.run(OPTIONS))).toEqual([]);
  expect(await checksum()).toBe(before);
  publish({ 'a.json': secret('named', SECOND), 'server.yaml': server });
  await world.run(OPTIONS);
  expect(await checksum()).not.toBe(before);
});

test('policies look at the values themselves', async () => {
  const rules = [{ apiGroups: [''], apiVersions: ['*'], operations: ['CREATE'], resources: ['secrets'] }];
  const validations = [{ expression: 'size(object.data.content) > 200000', message: 'too short' }];
  const object = (kind: string, spec: object): string =>
    JSON.stringify({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'long' }, spec });
  const text = [
    object('ValidatingAdmissionPolicy', { matchConstraints: { resourceRules: rules }, validations }),
    object('ValidatingAdmissionPolicyBinding', { policyName: 'long', validationActions: ['Deny'] }),
  ].join('\n---\n');
  const policies = readPolicies([{ path: 'own.yaml', text }]).set;
  publish({ 'a.json': secret('a'), 'b.json': secret('b', 'aGk=') });
  const result = await world.run({ ...OPTIONS, policies });
  expect(result.problems.map(({ code, resource }) => `${code} ${resource?.name}`)).toEqual(['policy/long b']);
  expect(did(result)).toEqual(['tools/Secret/a created']);
});

test('a problem behind a long value is shown where it stands', async () => {
  const { data, ...rest } = secret('a') as Record<string, unknown>;
  publish({ 'a.json': { ...rest, data, immutible: true } });
  const { problems } = await world.plan(OPTIONS);
  const text = JSON.stringify({ ...rest, data, immutible: true });
  expect(problems.map(({ place }) => place)).toEqual([
    { file: 'cluster/a.json', line: 1, column: text.indexOf('"immutible"') + 1 },
  ]);
});
