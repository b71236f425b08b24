// Going back to an earlier run, and what ends it: a bad commit stays out of use until a newer one comes.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { jsonOfPlan } from '#reconciler/report/formats/json.ts';
import { textOfHistory } from '#reconciler/report/history.ts';
import { textOfPlan } from '#reconciler/report/text.ts';
import { approve } from '#reconciler/run/operate/approve.ts';
import { findDifferences, learnOlder, quarantine } from '#reconciler/run/operate/rollback.ts';
import { clearQuarantine, readQuarantine } from '#reconciler/run/records/quarantine.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { planOnly } from '#reconciler/run/run.ts';
import { isObject } from '#std/json.ts';
import { type GitServer, startGitServer, type TestRepository } from '../../harness/git-server.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from './fleet.ts';

const HOME = { instance: 'test', homeNamespace: 'default' };

let world: World;
let server: GitServer;
let folder: InstanceFolder;
let fleet: TestRepository;
let down = false;
let repositories = 0;

beforeAll(async () => {
  [world, server] = await Promise.all([
    startWorld(),
    startGitServer({
      intercept: (_request, response) => {
        if (down) response.writeHead(503).end();
        return down;
      },
    }),
  ]);
  folder = instanceFolder(world);
});

afterEach(async () => {
  down = false;
  await clearQuarantine(world.client, HOME, []);
});

afterAll(async () => {
  await Promise.all([world.close(), server.close()]);
  folder.remove();
});

/** A repository of its own, so that no test knows commits of another. */
async function begin(changes: Readonly<Record<string, unknown>> = {}): Promise<void> {
  repositories += 1;
  const name = `fleet-${repositories}.git`;
  fleet = server.createRepository(name);
  const sources = [{ name: 'fleet', repository: `${server.url}/${name}`, branch: 'main', path: 'cluster' }];
  folder.configure({ sources, ...changes });
  await acceptSources();
}

/** An instance all of whose sources are other ones writes nothing until someone says that it is the same instance. */
async function acceptSources(): Promise<void> {
  await folder.use(async (instance) => {
    const { plan } = await planOnly(instance.deps, instance.options());
    const others = plan.waiting.filter(({ deletions }) => deletions.length === 0);
    for (const { hash } of others) await approve(instance.deps, instance.options(), hash, 1);
  });
}

function run(): Promise<RunResult> {
  return folder.use((instance) => instance.run({ waitSeconds: 0 }));
}

/** A commit with that version of the one server, and a run of it. */
async function ship(version: string): Promise<{ readonly commit: string; readonly id: string }> {
  const commit = publish(fleet, { clock: version });
  const { id, commits } = await run();
  expect(commits).toEqual({ fleet: commit });
  return { commit, id };
}

/** What `skep rollback` does before its run. */
async function takeBack(id: string): Promise<void> {
  await folder.use(async (instance) => {
    const history = await instance.history.latest(50);
    const record = history.find((each) => each.id === id);
    if (record === undefined) throw new Error(`no run ${id}`);
    const made = await quarantine(instance.deps, HOME, record, history);
    if (!down) expect(await learnOlder(instance.deps, HOME, made)).toEqual([]);
  });
}

async function image(): Promise<unknown> {
  const spec = (await members(world.client, 'test')).get('tools/MCPServer/clock')?.spec;
  return isObject(spec) ? String(spec.image).split(':').at(-1) : undefined;
}

async function entries(): Promise<readonly string[]> {
  return [...(await readQuarantine(world.client, HOME)).entries.keys()];
}

test('the rollback holds while the branch names the bad commit, without a write, and every report tells it', async () => {
  await begin();
  const good = await ship('1.0.0');
  const bad = await ship('2.0.0');
  await takeBack(good.id);
  const back = await run();
  expect([await image(), back.commits]).toEqual(['1.0.0', { fleet: good.commit }]);
  expect(back.quarantined).toMatchObject([{ source: 'fleet', good: good.commit, bad: bad.commit, run: good.id }]);

  for (let left = 20; (await run()).readiness.progressing.length > 0 && left > 0; left -= 1);
  world.cluster.cluster.resetCounters();
  const idle = await run();
  expect([idle.outcomes, world.cluster.cluster.counters().writes]).toEqual([[], {}]);
  expect(textOfPlan(idle)).toMatch(
    new RegExp(`^source fleet was rolled back at \\S+ and stays at ${good.commit.slice(0, 10)}: `, 'm'),
  );
  expect(JSON.parse(jsonOfPlan(idle)).quarantined).toEqual([
    { source: 'fleet', good: good.commit, bad: bad.commit, run: good.id, since: expect.any(String) },
  ]);
  const [record] = await folder.use((instance) => instance.history.latest(1));
  expect(record?.pinned).toEqual([{ source: 'fleet', good: good.commit, bad: bad.commit }]);
});

test('a newer commit ends it; a later return to the bad one is a choice of its own', async () => {
  await begin();
  const good = await ship('1.0.0');
  await ship('2.0.0');
  await takeBack(good.id);
  await run();
  await ship('3.0.0');
  expect([await image(), await entries()]).toEqual(['3.0.0', []]);
  fleet.git('reset', '--quiet', '--hard', 'HEAD~1');
  fleet.publish();
  await run();
  expect(await image()).toBe('2.0.0');
});

test('a branch that is reset to an older commit is no news, also where no run has ever seen that commit', async () => {
  await begin();
  const good = await ship('1.0.0');
  publish(fleet, { clock: '1.5.0' });
  await ship('2.0.0');
  await takeBack(good.id);
  for (const target of ['HEAD~1', 'HEAD~1', good.commit]) {
    fleet.git('reset', '--quiet', '--hard', target);
    fleet.publish();
    const { quarantined } = await run();
    expect([await image(), quarantined.length], target).toEqual(['1.0.0', 1]);
  }
  // The mend that is pushed over it.
  await ship('4.0.0');
  expect([await image(), await entries()]).toEqual(['4.0.0', []]);
});

test('a plan from before a rollback is refused, also of a commit that nobody knows to be older', async () => {
  await begin({ apply: { maxDeletesPercent: 100, waitSeconds: 0 } });
  const good = await ship('1.0.0');
  publish(fleet, { clock: '1.5.0' });
  expect((await folder.run('plan', '--out', 'fleet.plan')).code).toBe(0);
  fleet.git('reset', '--quiet', '--hard', 'HEAD~1');
  const bad = await ship('2.0.0');
  await takeBack(good.id);
  await run();
  expect(await folder.run('apply', 'fleet.plan')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(`^error plan-rolled-back: source fleet was rolled back to ${good.commit.slice(0, 10)} at `),
    ),
  });
  const { commits, quarantined } = await run();
  expect([commits, quarantined.map(({ bad: each }) => each)]).toEqual([{ fleet: good.commit }, [bad.commit]]);
  expect([await image(), await entries()]).toEqual(['1.0.0', ['fleet']]);
});

test('a rollback that was killed before its run is carried out by the next one', async () => {
  await begin();
  const good = await ship('1.0.0');
  await ship('2.0.0');
  const died = new Error('killed');
  const dying = folder.use(async (instance) => {
    const history = await instance.history.latest(50);
    const record = history.find(({ id }) => id === good.id);
    if (record !== undefined) await quarantine(instance.deps, HOME, record, history);
    throw died;
  });
  await expect(dying).rejects.toBe(died);
  await run();
  expect([await image(), await entries()]).toEqual(['1.0.0', ['fleet']]);
});

test('a Git server that is down keeps nobody from going back, and the run says that it is down', async () => {
  await begin();
  const good = await ship('1.0.0');
  const bad = await ship('2.0.0');
  down = true;
  await takeBack(good.id);
  const { failures, quarantined, plan } = await run();
  expect(await image()).toBe('1.0.0');
  expect(failures.map(({ code }) => code)).toEqual(['git-unreachable']);
  expect(quarantined).toMatchObject([{ bad: bad.commit }]);
  expect(plan.held).toEqual([]);
});

test('nothing is taken out of use where a commit of the run cannot be had any more', async () => {
  await begin();
  const good = await ship('1.0.0');
  await ship('2.0.0');
  folder.configure({
    sources: [{ name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'cluster' }],
  });
  publish(world.fleet, { clock: '2.0.0' });
  await expect(takeBack(good.id)).rejects.toMatchObject({ code: 'git-ref-not-found' });
  folder.configure({ sources: [{ name: 'other', repository: `${world.git.url}/fleet.git`, branch: 'main' }] });
  await expect(takeBack(good.id)).rejects.toMatchObject({ code: 'rollback-impossible' });
  expect(await entries()).toEqual([]);
});

test('nothing is taken out of use if the branch has moved on since the commits were shown', async () => {
  await begin();
  const good = await ship('1.0.0');
  await ship('2.0.0');
  await folder.use(async (instance) => {
    const history = await instance.history.latest(50);
    const record = history.find((each) => each.id === good.id);
    if (record === undefined) throw new Error('the run is recorded');
    const shown = await findDifferences(instance.deps, record, history);
    publish(fleet, { clock: '3.0.0' });
    await expect(quarantine(instance.deps, HOME, record, history, shown)).rejects.toMatchObject({
      code: 'rollback-changed',
    });
    expect(await entries()).toEqual([]);
    const again = await findDifferences(instance.deps, record, history);
    await quarantine(instance.deps, HOME, record, history, again);
    expect(await entries()).toEqual(['fleet']);
  });
});

test('what was spoilt stops every run, and --clear mends it', async () => {
  await begin();
  const good = await ship('1.0.0');
  await ship('2.0.0');
  await takeBack(good.id);
  const [stored] = (await readQuarantine(world.client, HOME)).stored.objects;
  if (stored === undefined) throw new Error('nothing is stored');
  await world.client.replace({ ...stored, data: { fleet: '{"good": 1}' } });
  await expect(run()).rejects.toMatchObject({ code: 'quarantine-unreadable' });
  expect(await clearQuarantine(world.client, HOME, [])).toEqual(['fleet']);
  await run();
  expect(await image()).toBe('2.0.0');
});

test('the command: back at once, deletions wait as ever, the source is let go again', async () => {
  await begin({ apply: { maxDeletes: 0, maxDeletesPercent: 100, waitSeconds: 0 } });
  publish(fleet, { clock: '1.0.0' });
  const first = await run();
  publish(fleet, { clock: '2.0.0', news: '1.0.0' });
  await run();
  const gone = await folder.run('rollback', first.id.slice(0, 8), '-o', 'json');
  const printed = JSON.parse(gone.stdout);
  const [list, ...others] = printed.approvals;
  expect([gone.code, await image(), others]).toEqual([5, '1.0.0', []]);
  const news = [...(await members(world.client, 'test')).keys()].filter((id) => id.includes('news'));
  expect(news).toContain('tools/MCPServer/news');
  expect([list.source, list.deletions.map(({ id }: { id: string }) => id)]).toEqual(['fleet', news]);
  await folder.use((instance) => approve(instance.deps, instance.options(), list.hash, 1));
  await run();
  expect([...(await members(world.client, 'test')).keys()]).not.toContain('tools/MCPServer/news');

  const history = textOfHistory(await folder.use((instance) => instance.history.latest(1)));
  expect(history.split('\n')[1]).toMatch(/^\w{8} {2}\S+ +\w+ +fleet@\w{10} +\d+ deleted$/);
  const cleared = await folder.run('rollback', '--clear');
  expect([cleared.code, cleared.stdout]).toEqual([0, 'the next run follows the branch of fleet again\n']);
  expect((await folder.run('rollback')).code).toBe(64);
  const unknown = await folder.run('rollback', 'ffffffff');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('run-not-found')]);
});
