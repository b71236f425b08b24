// Secrets that are encrypted with SOPS, in runs: made where the source has the key, and held as they exist wherever something
// is wrong about them. Of the source, only what would be deleted waits for that.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '#hosts/config/read-config.ts';
import { planBySnapshot } from '#hosts/reconciler/instance/plan-by-snapshot.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { JsonObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { sealed, type TestKey, testKey } from '../../harness/sops.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

let world: World;
let instance: InstanceFolder;
let key: TestKey;
let newKey: TestKey;

beforeAll(async () => {
  [world, key, newKey] = await Promise.all([startWorld(), testKey(), testKey()]);
  instance = instanceFolder(world);
  configure({ decryption: { ageKeyFile: 'keys.txt' } });
  writeKeys(key);
});

afterAll(async () => {
  instance.remove();
  await world.close();
});

function keyFile(): string {
  return join(instance.dir, 'keys.txt');
}

function configure(source: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): void {
  const decryption = source.decryption === undefined ? {} : { decryption: { ageKeyFile: keyFile() } };
  const fleet = { name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'cluster' };
  instance.configure({ sources: [{ ...fleet, ...decryption }], ...more });
}

function writeKeys(...keys: readonly TestKey[]): void {
  const lines = ['# created by a test', ...keys.map(({ identity }) => identity), ''];
  writeFileSync(keyFile(), lines.join('\n'), { mode: 0o600 });
}

function secret(token: string, name = 'api'): JsonObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'tools' }, stringData: { token } };
}

async function living(name = 'api'): Promise<string | undefined> {
  const found = await world.client.get({ apiVersion: 'v1', kind: 'Secret', namespace: 'tools', name });
  const data = (found as (KubeObject & { data?: Record<string, string> }) | undefined)?.data;
  return data === undefined ? undefined : Buffer.from(data.token ?? '', 'base64').toString();
}

function run(): Promise<RunResult> {
  return instance.use((opened) => opened.run());
}

/** What changed, what is held, and what is complained about, with its place. */
function reported({ outcomes, plan, problems, failures }: RunResult): string[] {
  return [
    ...outcomes
      .filter(({ action }) => action !== 'unchanged')
      .map((each) => `${each.action} ${formatId(each.resource)}`),
    ...plan.held.map(({ resource }) => `held ${formatId(resource)}`),
    ...problems.map(({ code, place }) => `${code} ${place?.file}:${place?.line}`),
    ...failures.map(({ code }) => code),
  ].sort();
}

test('with the key of the source the Secret is made of what was encrypted; plain manifests are read as ever', async () => {
  const rules = 'creation_rules: [{age: age1...}]\n';
  world.fleet.commit({
    'cluster/.sops.yaml': rules,
    'cluster/base.yaml': NAMESPACE,
    'cluster/api.json': await sealed(secret('one'), key),
  });
  expect(reported(await run())).toEqual(['created Namespace/tools', 'created tools/Secret/api']);
  expect(await living()).toBe('one');
  expect(reported(await run())).toEqual([]);
});

test('a value that changes is changed, and a document that is encrypted as a whole is read, too', async () => {
  const whole = await sealed(secret('whole', 'whole'), key, '.');
  world.fleet.commit({ 'cluster/api.json': await sealed(secret('two'), key), 'cluster/whole.json': whole });
  expect(reported(await run())).toEqual(['configured tools/Secret/api', 'created tools/Secret/whole']);
  expect(await living('whole')).toBe('whole');
  world.fleet.commit({ 'cluster/whole.json': undefined });
});

/** Each leaves the Secret as it exists, names file and line, and stops nothing else but deletions of the source. */
const TROUBLES: readonly {
  readonly code: string;
  readonly cause: () => Promise<void> | void;
  readonly line?: number;
}[] = [
  { code: 'sops-key-missing', cause: () => configure({}), line: 11 },
  { code: 'sops-key-unreadable', cause: () => writeFileSync(keyFile(), 'no key\n'), line: 11 },
  { code: 'sops-key-wrong', cause: () => writeKeys(newKey), line: 11 },
  { code: 'sops-mac-mismatch', cause: tamper, line: 12 },
  { code: 'sops-metadata-missing', cause: strip, line: 9 },
];

async function tamper(): Promise<void> {
  const text = await sealed(secret('three'), key);
  world.fleet.commit({
    'cluster/api.json': text.replace('"namespace"', '"labels": {"added": "later"},\n    "namespace"'),
  });
}

async function strip(): Promise<void> {
  const { sops: _, ...rest } = JSON.parse(await sealed(secret('three'), key));
  world.fleet.commit({ 'cluster/api.json': JSON.stringify(rest, null, 2) });
}

function map(name: string, of: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: tools}\ndata: {of: ${of}}\n`;
}

test.each(TROUBLES)(
  '$code: the Secret stays, what is deleted waits, and the rest goes on',
  async ({ code, cause, line }) => {
    configure({ decryption: true });
    writeKeys(key);
    world.fleet.commit({
      'cluster/api.json': await sealed(secret('two'), key),
      'cluster/marker.yaml': map('marker', code),
      'cluster/beside.yaml': map('beside', `before-${code}`),
    });
    await run();
    const sealedAgain = await sealed(secret('three'), key);
    const beside = map('beside', `after-${code}`);
    world.fleet.commit({
      'cluster/api.json': sealedAgain,
      'cluster/marker.yaml': undefined,
      'cluster/beside.yaml': beside,
    });
    await cause();
    const result = await run();
    expect(reported(result)).toEqual([
      'configured tools/ConfigMap/beside',
      'held tools/ConfigMap/marker',
      'held tools/Secret/api',
      `${code} cluster/api.json:${line}`,
    ]);
    expect(result.plan.waiting.map(({ source, reasons, deletions }) => [source, reasons, deletions.length])).toEqual([
      ['fleet', ['tools/Secret/api is invalid: it may be the new name of an object that would be deleted'], 1],
    ]);
    expect(await living()).toBe('two');
  },
);

test('a new key takes effect in the next run of the same process, though nothing in Git has changed', async () => {
  configure({ decryption: true });
  world.fleet.commit({ 'cluster/api.json': await sealed(secret('rotated'), newKey) });
  writeKeys(key);
  await instance.use(async (opened) => {
    expect(reported(await opened.run())).toContain('sops-key-wrong cluster/api.json:11');
    writeKeys(key, newKey);
    // What was to be deleted waited for that.
    expect(reported(await opened.run())).toEqual(['configured tools/Secret/api', 'deleted tools/ConfigMap/marker']);
    writeKeys(key);
    expect(reported(await opened.run())).toContain('held tools/Secret/api');
  });
  expect(await living()).toBe('rotated');
});

test('where the identity is encrypted and the key is missing, nothing of the source is deleted', async () => {
  configure({ decryption: true });
  writeKeys(key);
  const whole = await sealed(secret('whole', 'whole'), key, '.');
  world.fleet.commit({ 'cluster/api.json': await sealed(secret('four'), key), 'cluster/whole.json': whole });
  await run();
  writeKeys(newKey);
  world.fleet.commit({ 'cluster/api.json': undefined });
  expect(reported(await run())).toEqual([
    'held tools/Secret/api',
    'held tools/Secret/whole',
    expect.stringMatching(/^sops-key-wrong cluster\/whole.json:/),
  ]);
  expect(await living()).toBe('four');
});

test('a plan for a pull request needs no key: it tells which Secrets change', async () => {
  writeKeys(key);
  const [same, before] = [await sealed(secret('same', 'same'), key), await sealed(secret('before'), key)];
  world.fleet.commit({ 'cluster/whole.json': undefined, 'cluster/same.json': same, 'cluster/api.json': before });
  const state = join(instance.dir, 'state.json');
  configure({ decryption: true }, { snapshot: { file: state } });
  await run();
  rmSync(keyFile());
  world.fleet.commit({ 'cluster/api.json': await sealed(secret('after'), key) });
  const config = readConfig({
    text: readFileSync(join(instance.dir, 'skep.yaml'), 'utf8'),
    file: 'skep.yaml',
    environment: {},
  });
  const { result } = await planBySnapshot(config, { against: state, source: [] });
  const changes = result.plan.batches.flatMap((batch) => batch.changes);
  expect(changes.map(({ action, resource, diff }) => [action, formatId(resource), diff])).toEqual([
    [
      'update',
      'tools/Secret/api',
      [{ path: expect.stringContaining('token'), before: '*** (before)', after: '*** (after)' }],
    ],
  ]);
  expect(reported(result).filter((line) => line.startsWith('sops'))).toEqual([]);
});

test('what is no Secret may have no encrypted values: they would be shown wherever it is', async () => {
  writeKeys(key, newKey);
  const map = { ...secret('not for a ConfigMap'), kind: 'ConfigMap' };
  world.fleet.commit({ 'cluster/map.json': await sealed(map, key, '^(stringData)$') });
  const result = await run();
  expect(reported(result)).toContain('sops-outside-secret cluster/map.json:9');
  expect(JSON.stringify(result)).not.toContain('not for a ConfigMap');
});
