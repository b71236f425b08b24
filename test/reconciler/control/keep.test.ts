// `skep run` as a whole, asked over HTTP how it is while the world changes under it.

import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { publish } from '../run/fleet.ts';
import { type Keeper, startKeeper } from './keeper.ts';

let world: World;
let keeper: Keeper | undefined;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
});

afterEach(async () => {
  world.cluster.cluster.faults.clear();
  await keeper?.stop();
  keeper = undefined;
});

afterAll(() => world.close());

async function start(changes?: Readonly<Record<string, unknown>>): Promise<Keeper> {
  keeper = await startKeeper(world, changes);
  return keeper;
}

interface Answer {
  readonly status: string;
  readonly reasons?: readonly string[];
}

async function readiness({ url }: Keeper): Promise<Answer> {
  return (await (await fetch(`${url}/readiness`)).json()) as Answer;
}

/** Value of a sample, by its name and labels as they are printed. */
async function metric({ url }: Keeper, sample: string): Promise<number | undefined> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  const line = lines.find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length));
}

test('it is ready once a run has ended, and counts what that did', async () => {
  const commit = publish(world.fleet, { one: '1.0.0' });
  const running = await start();
  await eventually(
    () => readiness(running),
    ({ status }) => status === 'ready',
  );
  expect(await (await fetch(`${running.url}/health`)).json()).toEqual({ version: 1, status: 'healthy' });
  expect(await metric(running, `skep_source_commit_info{source="fleet",commit="${commit}"}`)).toBe(1);
  expect(await metric(running, 'skep_source_fetches_total{source="fleet",outcome="fetched"}')).toBeGreaterThan(0);
  expect(await metric(running, 'skep_changes_total{action="created"}')).toBeGreaterThan(3);
  expect(await metric(running, 'skep_runs_total{outcome="done"}')).toBeGreaterThan(0);
  expect(await metric(running, 'skep_cluster_requests_total{method="PATCH",code="201"}')).toBeGreaterThan(3);
  expect(await metric(running, 'skep_lock_held')).toBe(0);
});

test('the state that runs publish is at /snapshot, where skep.yaml asks for it', async () => {
  const { path, remove } = temporaryFolder();
  try {
    const tokenFile = join(path, 'token');
    writeFileSync(tokenFile, 'two\n');
    const commit = publish(world.fleet, { one: '1.0.0' });
    const running = await start({ http: { address: '127.0.0.1:0', tokenFile }, snapshot: {} });
    const headers = { authorization: 'Bearer two' };
    const answer = await eventually(
      () => fetch(`${running.url}/snapshot`, { headers }),
      ({ status }) => status === 200,
    );
    expect(await answer.json()).toMatchObject({ format: 'skep-snapshot', sources: [{ name: 'fleet', commit }] });
  } finally {
    remove();
  }
});

const PUSH = { 'x-gitea-event': 'push' };

/** A webhook for the fleet's repository, signed. */
async function tellPush({ url }: Keeper, secret: string): Promise<number> {
  const body = JSON.stringify({ ref: 'refs/heads/main', repository: { clone_url: `${world.git.url}/fleet.git` } });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { ...PUSH, 'x-gitea-signature': signature };
  return (await fetch(`${url}/hooks/git`, { method: 'POST', headers, body })).status;
}

test('a push that is told by a webhook, and a request with the token, start a run at once', async () => {
  const { path, remove } = temporaryFolder();
  try {
    const [webhookSecretFile, tokenFile] = [join(path, 'secret'), join(path, 'token')];
    writeFileSync(webhookSecretFile, 'one\n');
    writeFileSync(tokenFile, 'two\n');
    publish(world.fleet, { one: '1.0.0' });
    const running = await start({ http: { address: '127.0.0.1:0', webhookSecretFile, tokenFile } });
    await eventually(
      () => readiness(running),
      ({ status }) => status === 'ready',
    );
    publish(world.fleet, { one: '1.0.0', hooked: '1.0.0' });
    expect(await tellPush(running, 'another')).toBe(403);
    writeFileSync(webhookSecretFile, 'another\n');
    expect(await tellPush(running, 'another')).toBe(202);
    await running.said('tools/MCPServer/hooked created');
    publish(world.fleet, { one: '1.0.0', asked: '1.0.0' });
    const headers = { authorization: 'Bearer two' };
    expect((await fetch(`${running.url}/sync`, { method: 'POST' })).status).toBe(401);
    expect((await fetch(`${running.url}/sync`, { method: 'POST', headers })).status).toBe(202);
    await running.said('tools/MCPServer/asked created');
    expect(await metric(running, 'skep_webhooks_total{provider="gitea",outcome="forged"}')).toBe(1);
    // A run that a change has just begun may make it first: theirs follows.
    for (const reason of ['webhook', 'request']) {
      await eventually(
        () => metric(running, `skep_runs_begun_total{reason="${reason}"}`),
        (count) => count === 1,
      );
    }
  } finally {
    remove();
  }
});
