// What each command prints and how it exits, for people and for programs. In one file, because all commands share
// one instance.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { type InstanceFolder, instanceFolder, settingsOf } from '../harness/instance.ts';
import { startWorld, type World } from '../harness/world.ts';
import { fleetFiles, publish } from '../reconciler/run/fleet.ts';

const CRDS = fileURLToPath(new URL('../../manifests/crds', import.meta.url));

let world: World;
let empty: TestDatabase;
let instance: InstanceFolder;

beforeAll(async () => {
  [world, empty] = await Promise.all([startWorld(), createTestDatabase('empty')]);
  instance = instanceFolder(world);
  publish(world.fleet, { clock: '1.0.0' });
});

afterAll(async () => {
  await Promise.all([world.close(), empty.drop()]);
  instance.remove();
});

describe('help', () => {
  const commands = [
    'dev',
    'init',
    'validate',
    'plan',
    'apply',
    'sync',
    'run',
    'approve',
    'status',
    'history',
    'rollback',
    'suspend',
    'resume',
    'trigger',
    'adopt',
    'mcp',
    'serve',
    'call',
    'lock',
    'clients',
    'proxy',
    'vmcp',
    'sample',
    'migrate',
    'crds',
    'convert',
    'explain',
    'completion',
  ];

  test('names every command and every exit code', async () => {
    const { code, stdout } = await instance.run('--help');
    expect(code).toBe(0);
    const listed = (/Commands:\n([\s\S]*?)\n\n/.exec(stdout)?.[1] ?? '').split('\n');
    const names = listed.flatMap((line) => /^ {2}(\w+)/.exec(line)?.[1] ?? []);
    expect(names).toEqual([...commands, 'help']);
    expect(stdout).toContain('64 usage');
  });

  for (const command of commands) {
    test(`of ${command} shows an example that is a call of it`, async () => {
      const { code, stdout, stderr } = await instance.run(command, '--help');
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`\\nExamples?:\\n  skep ${command}\\b`));
    });
  }
});

test('crds prints what manifests/crds holds', async () => {
  const { code, stdout } = await instance.run('crds');
  expect(code).toBe(0);
  const printed = parseAllDocuments(stdout).map((document) => document.toJS());
  const files = readdirSync(CRDS)
    .filter((name) => name.endsWith('.yaml'))
    .sort();
  const kept = files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(CRDS, file), 'utf8')).map((document) => document.toJS()),
  );
  const byName = (a: Definition, b: Definition): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  expect(printed.sort(byName)).toEqual(kept.sort(byName));
  expect(printed.map(({ spec }: Definition) => spec.names.kind)).toContain('MCPServer');
});

test('crds can be had in another API group', async () => {
  const { stdout } = await instance.run('crds', '--api-group', 'mcp.example.com');
  const groups = parseAllDocuments(stdout).map((document) => document.toJS().spec.group);
  expect(new Set(groups)).toEqual(new Set(['mcp.example.com']));
});

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly names: { readonly kind: string } };
}

describe('validate', () => {
  beforeAll(() => {
    const good = fleetFiles({ clock: '1.0.0' });
    const bad = { ...good, 'cluster/clock.yaml': `${good['cluster/clock.yaml']}  colour: blue\n` };
    for (const [folder, files] of Object.entries({ good, bad })) {
      mkdirSync(join(instance.dir, folder, 'cluster'), { recursive: true });
      for (const [path, text] of Object.entries(files)) writeFileSync(join(instance.dir, folder, path), text);
    }
  });

  test('reads a folder as it is, without what Git keeps in it', async () => {
    mkdirSync(join(instance.dir, 'good/.git'), { recursive: true });
    writeFileSync(join(instance.dir, 'good/.git/index.yaml'), 'no: manifest\n');
    for (const folder of ['good', './good/', join(instance.dir, 'good')]) {
      expect((await instance.run('validate', folder)).stdout).toBe('3 resources in 2 files: all valid\n');
    }
  });

  test('says so where all is valid', async () => {
    const { code, stdout, stderr } = await instance.run('validate', 'good');
    expect([code, stdout, stderr]).toEqual([0, '3 resources in 2 files: all valid\n', '']);
  });

  const line =
    'bad/cluster/clock.yaml:8:3: error schema-unknown-field: spec has no field "colour", so the API server would drop it. (tools/MCPServer/clock)';

  test('names what is invalid, and exits with 3', async () => {
    const { code, stdout } = await instance.run('validate', 'bad');
    expect([code, stdout]).toEqual([
      3,
      `${line}\n3 resources in 2 files: 1 invalid; correct these errors first, then rules and policies are checked as well\n`,
    ]);
  });

  test('says the same again from what it remembers, and notices every change', async () => {
    const results = join(instance.dir, '.cache/skep/validate');
    rmSync(results, { recursive: true, force: true });
    const [first, again] = [await instance.run('validate', 'bad'), await instance.run('validate', 'bad')];
    expect(again).toEqual(first);
    expect(readdirSync(results)).toHaveLength(1);
    // The same content in another place is named by that place.
    const moved = await instance.run('validate', 'bad/cluster');
    expect([moved.code, moved.stdout]).toEqual([3, expect.stringContaining(line)]);
    const file = join(instance.dir, 'bad/cluster/clock.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('colour', 'colours'));
    expect((await instance.run('validate', 'bad')).stdout).toContain('has no field "colours"');
    writeFileSync(file, text);
    for (const name of readdirSync(results)) writeFileSync(join(results, name), 'damaged');
    expect(await instance.run('validate', 'bad')).toEqual(first);
  });

  test('remembers nothing where it is told so', async () => {
    const results = join(instance.dir, '.cache');
    rmSync(results, { recursive: true, force: true });
    expect((await instance.run('validate', 'bad', '--no-cache')).code).toBe(3);
    expect(existsSync(results)).toBe(false);
  });

  test('checks a kind of somebody else by the definitions that it is given, and says so where there are none', async () => {
    const gadget = 'apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g, namespace: tools}\nsize: large\n';
    writeFileSync(join(instance.dir, 'gadget.yaml'), gadget);
    mkdirSync(join(instance.dir, 'crds'));
    const names = 'names: {kind: Gadget, plural: gadgets}, scope: Namespaced';
    const schema = 'schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}';
    writeFileSync(
      join(instance.dir, 'crds/gadgets.yaml'),
      `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gadgets.example.com}\nspec: {group: example.com, ${names}, versions: [{name: v1, served: true, storage: true, ${schema}}]}\n`,
    );
    const alone = await instance.run('validate', 'gadget.yaml');
    expect([alone.code, alone.stdout]).toEqual([
      0,
      expect.stringContaining('gadget.yaml:2:7: warning kind-not-checked'),
    ]);
    const checked = await instance.run('validate', 'gadget.yaml', '--schemas', 'crds');
    expect(checked.stdout).toContain('gadget.yaml:4:7: error schema-type: size must be an integer');
    expect(checked.code).toBe(3);
    const version = await instance.run('validate', 'gadget.yaml', '--kubernetes-version', 'v1.20.0');
    expect([version.code, version.stderr]).toEqual([
      64,
      expect.stringContaining('only the schemas of Kubernetes 1.36'),
    ]);
  });

  test('tells programs the same', async () => {
    const { code, stdout } = await instance.run('validate', 'bad', '-o', 'json');
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toEqual({
      version: 1,
      summary: { files: 2, resources: 3, valid: 2, invalid: 1, problems: 1 },
      problems: [
        {
          code: 'schema-unknown-field',
          severity: 'error',
          message: 'spec has no field "colour", so the API server would drop it.',
          file: 'bad/cluster/clock.yaml',
          line: 8,
          column: 3,
          pointer: '/spec/colour',
          resource: {
            apiVersion: 'toolhive.stacklok.dev/v1alpha1',
            kind: 'MCPServer',
            namespace: 'tools',
            name: 'clock',
          },
        },
      ],
    });
  });
});

describe('plan and sync', () => {
  test('plan writes nothing and exits with 2 where it is asked about changes', async () => {
    world.cluster.cluster.resetCounters();
    const [plain, detailed] = [await instance.run('plan'), await instance.run('plan', '--detailed-exitcode')];
    expect([plain.code, detailed.code]).toEqual([0, 2]);
    expect(detailed.stdout).toContain('  + tools/MCPServer/clock\n');
    expect(detailed.stdout).toMatch(/^12 to create, 0 to update, 0 to delete, 0 unchanged, 0 held\n/m);
    expect(world.cluster.cluster.counters().writes).toEqual({});
  });

  test('plan tells programs the commit, the batches and their differences', async () => {
    const { code, stdout } = await instance.run('plan', '-o', 'json');
    expect(code).toBe(0);
    const plan = JSON.parse(stdout);
    expect(plan).toMatchObject({
      version: 1,
      commit: world.fleet.git('rev-parse', 'HEAD'),
      summary: { create: 12, update: 0, delete: 0, unchanged: 0, held: 0 },
      problems: [],
    });
    expect(plan.batches[0].changes[0]).toEqual({
      action: 'create',
      resource: { apiVersion: 'v1', kind: 'Namespace', name: 'tools' },
      preview: { verdict: 'accepted' },
      diff: [],
    });
  });

  test('sync tells programs the run, its outcomes and what it cost', async () => {
    const { code, stdout } = await instance.run('sync', '-o', 'json');
    expect(code).toBe(0);
    const run = JSON.parse(stdout);
    expect(run).toMatchObject({
      version: 1,
      run: { commit: world.fleet.git('rev-parse', 'HEAD') },
      summary: { created: 12, configured: 0, unchanged: 0, deleted: 0, held: 0, failed: 0 },
      problems: [],
    });
    expect(run.run.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Date.parse(run.run.finishedAt)).toBeGreaterThanOrEqual(Date.parse(run.run.startedAt));
    expect(run.requests).toBeGreaterThan(12);
    expect(run.outcomes).toHaveLength(12);
    expect(run.outcomes[0]).toEqual({
      action: 'created',
      resource: { apiVersion: 'v1', kind: 'Namespace', name: 'tools' },
    });
  });

  test('another sync, in a new process, writes nothing and lists each kind once, those of large contents twice', async () => {
    world.cluster.cluster.resetCounters();
    const { code, stdout } = await instance.run('sync');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0 created, 0 configured, 12 unchanged, 0 deleted, 0 held, 0 failed/);
    const { writes, dryRuns, lists } = world.cluster.cluster.counters();
    expect([writes, dryRuns]).toEqual([{}, {}]);
    const several = Object.entries(lists).filter(([, count]) => count > 1);
    expect(several.sort()).toEqual([
      ['configmaps', 2],
      ['secrets', 2],
    ]);
  });

  test('plan has nothing pending then', async () => {
    const { code, stdout } = await instance.run('plan', '--detailed-exitcode');
    expect([code, stdout]).toEqual([0, '0 to create, 0 to update, 0 to delete, 12 unchanged, 0 held\n']);
  });

  test('plan shows what of an object would change, before and after', async () => {
    publish(world.fleet, { clock: '2.0.0' });
    const { code, stdout } = await instance.run('plan', '--detailed-exitcode');
    expect(code).toBe(2);
    expect(stdout).toContain(
      '  ~ tools/MCPServer/clock\n      /spec/image: "images.example.com/clock:1.0.0" -> "images.example.com/clock:2.0.0"\n',
    );
  });

  test('apply carries out a plan file, and what it names as stale exits with 7', async () => {
    publish(world.fleet, { clock: '1.2.0' });
    const planned = await instance.run('plan', '--out', 'fleet.plan');
    expect([planned.code, planned.stderr]).toEqual([
      0,
      expect.stringMatching(/^the plan is in fleet.plan; to carry it out: \S.* apply fleet.plan\n$/),
    ]);
    publish(world.fleet, { clock: '1.3.0' });
    const moved = await instance.run('apply', 'fleet.plan');
    expect([moved.code, moved.stdout]).toEqual([1, expect.stringContaining('error plan-commit-unknown: commit ')]);
    publish(world.fleet, { clock: '1.2.0' });
    await instance.run('plan', '--out', 'fleet.plan');
    const applied = await instance.run('apply', 'fleet.plan');
    expect([applied.code, applied.stderr]).toEqual([0, '']);
    expect(applied.stdout).toMatch(/^tools\/MCPServer\/clock configured\n/);

    publish(world.fleet, { clock: '1.3.0' });
    await instance.run('plan', '--out', 'fleet.plan');
    // The commit is known from then on; what it changes is another thing a run later.
    await instance.run('sync');
    publish(world.fleet, { clock: '1.1.0' });
    await instance.run('sync');
    const { code, stdout } = await instance.run('apply', 'fleet.plan', '-o', 'json');
    const [first] = JSON.parse(stdout).outcomes;
    expect([code, first.action, first.error.code]).toEqual([7, 'failed', 'plan-stale']);
    expect(first.error.message).toContain('/spec/image');

    writeFileSync(join(instance.dir, 'cut.plan'), readFileSync(join(instance.dir, 'fleet.plan'), 'utf8').slice(0, 400));
    const cut = await instance.run('apply', 'cut.plan');
    expect([cut.code, cut.stdout, cut.stderr]).toEqual([64, '', expect.stringContaining('was it cut off?')]);
    instance.configure({ apply: { maxDeletes: 1, maxDeletesPercent: 100, waitSeconds: 60 } });
    const other = await instance.run('apply', 'fleet.plan');
    expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(/^error plan-mismatch: .*: apply\n$/)]);
    instance.configure();
  });

  test('sync leaves many deletions for approval and exits with 5', async () => {
    publish(world.fleet, {});
    instance.configure({ apply: { maxDeletes: 0 } });
    const { code, stdout } = await instance.run('sync');
    expect(code).toBe(5);
    expect(stdout).toMatch(
      /^deletions of source fleet wait for approval \([0-9a-f]{16}\): 1 deletion, more than apply.maxDeletes allows \(0\)$/m,
    );
    expect(stdout).toMatch(/^0 created, 0 configured, 2 unchanged, 0 deleted, 10 held, 0 failed/m);
    const [, hash = ''] = /^to delete exactly these: \S.* approve ([0-9a-f]{16})$/m.exec(stdout) ?? [];

    const wrong = await instance.run('approve', '0123456789abcdef');
    const waits = `no list with the hash 0123456789abcdef waits: its deletions were done, or the list has changed; waiting now: 10 deletions of source fleet (${hash})`;
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
      1,
      '',
      `error approval-not-waiting: ${waits} (skep plan shows them)\n`,
    ]);

    const approved = await instance.run('approve', hash);
    expect([approved.code, approved.stderr]).toEqual([0, '']);
    expect(approved.stdout).toMatch(
      /^approved until \S+Z: the next run deletes 10 objects\n {2}- tools\/MCPServer\/clock \(\+9 objects\)\n$/,
    );
    const again = JSON.parse((await instance.run('approve', hash, '-o', 'json')).stdout);
    expect(again).toMatchObject({ version: 1, approved: { hash } });
    expect(again.approved.deletions).toHaveLength(10);

    const done = await instance.run('sync');
    instance.configure();
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(
      new RegExp(`^deletions of source fleet are approved \\(${hash}, until \\S+Z\\): 1 deletion, more`, 'm'),
    );
    expect(done.stdout).toMatch(/^0 created, 0 configured, 2 unchanged, 10 deleted, 0 held, 0 failed/m);
  });

  test('sync says what it waits for, then what is not ready in time and why, and exits with 8; so does the history', async () => {
    const slow = await startWorld({ workloadsReadyAfterMs: 600_000 });
    publish(slow.fleet, { clock: '1.0.0' });
    const own = instanceFolder(slow);
    own.configure({ apply: { waitSeconds: 12 } });
    const { code, stdout } = await own.run('sync');
    const [{ id }] = JSON.parse((await own.run('history', '-o', 'json')).stdout).runs;
    const recorded = await own.run('history', id);
    await slow.close();
    own.remove();
    expect(code).toBe(8);
    const why =
      'tools/MCPServer/clock: MCP server is starting: no pod of the server is ready. If this lasts, its events';
    expect(stdout).toMatch(new RegExp(`^waiting for ${why} .* \\(\\d s left\\)$`, 'm'));
    expect(stdout).toContain(`\nnot ready in time: ${why}`);
    expect(recorded.stdout).toContain(`\nnot ready in time: ${why}`);
  });
});

test('run syncs at once, again on its schedule, and ends well when it is told to', async () => {
  publish(world.fleet, { clock: '1.0.0', news: '1.0.0' });
  instance.configure({ schedule: '* * * * * *', jitterSeconds: 0, apply: { maxDeletesPercent: 100 } });
  const running = instance.start('run');
  await running.printed('tools/MCPServer/news created');
  publish(world.fleet, { clock: '1.0.0', news: '1.0.0', search: '1.0.0' });
  await running.printed('tools/MCPServer/search created');
  running.kill('SIGTERM');
  const { code, stderr } = await running.finished;
  instance.configure();
  expect(code).toBe(0);
  expect(stderr).not.toContain('error');
});

describe('migrate', () => {
  beforeAll(() => {
    const config = {
      registries: [{ name: 'all', file: { path: 'registry.json' } }],
      database: settingsOf(empty, join(instance.dir, 'pgpass')),
      auth: { mode: 'anonymous' },
    };
    writeFileSync(join(instance.dir, 'registry.yaml'), JSON.stringify(config));
  });

  test('status, up and status again: pending, applied, applied', async () => {
    const pending = await instance.run('migrate', 'status');
    expect(pending.code).toBe(0);
    const names = pending.stdout.split('\n').filter((text) => text !== '');
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !/^pending +\d{4}-[a-z-]+(\.sql)?$/.test(name))).toEqual([]);

    const up = await instance.run('migrate', 'up');
    expect(up.code).toBe(0);
    expect(up.stdout).toBe(names.map((name) => `applied ${name.split(/ +/)[1]}\n`).join(''));

    const applied = await instance.run('migrate', 'status');
    expect(applied.code).toBe(0);
    expect(applied.stdout.split('\n').filter((text) => !/^(applied +\S+ \d{4}-\d\d-\d\dT\S+)?$/.test(text))).toEqual(
      [],
    );
    expect((await instance.run('migrate', 'up')).stdout).toBe('nothing to apply\n');
  });

  test('what a database does not let it do is one line', async () => {
    const config = readFileSync(join(instance.dir, 'registry.yaml'), 'utf8');
    const database = { ...JSON.parse(config).database, database: 'no_such_database' };
    writeFileSync(join(instance.dir, 'nowhere.yaml'), JSON.stringify({ ...JSON.parse(config), database }));
    const { code, stdout, stderr } = await instance.run('migrate', 'up', '-c', 'nowhere.yaml');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error database-not-found: \S+@127\.0\.0\.1:\d+\/no_such_database: .*\n$/);
  });
});
