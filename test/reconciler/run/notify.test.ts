// Who is notified of runs: requests as each forge documents them, once per change, and never at the expense of a run.

import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { type CommitStatusOptions, sendCommitStatus } from '#adapters/notify/commit-status.ts';
import { sendWebhook } from '#adapters/notify/webhook.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { failedRecord } from '#reconciler/run/history/record.ts';
import { noticeOfCommit, noticeOfRun } from '#reconciler/run/notify/notices.ts';
import type { Channel, LastNotice, Notice } from '#reconciler/run/notify/ports.ts';
import { openNotices } from '#reconciler/run/notify/tell.ts';
import { Failure } from '#std/failure.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { type Receiver, startReceiver } from '../../harness/receiver.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from './fleet.ts';

const SHA = '41be9e2f0741be9e2f0741be9e2f0741be9e2f07';
const TOKEN = 'the-token';
const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: '0' });

let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});

afterEach(() => {
  receiver.forget();
  receiver.answer([]);
});

afterAll(async () => {
  await Promise.all([outbound.close(), receiver.close()]);
});

function record(changes: Partial<RunRecord> = {}): RunRecord {
  const times = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:01.000Z' };
  const failed = failedRecord({ id: 'run-1', ...times }, new Failure('x', 'y'));
  return { ...failed, state: 'succeeded', failures: [], commits: { fleet: SHA }, ...changes };
}

function notice(state: Notice['state'], description = '2 created'): Notice {
  return { state, about: SHA, description, record: record() };
}

function statusOptions(provider: CommitStatusOptions['provider'], path = 'team/fleet'): CommitStatusOptions {
  return { provider, origin: receiver.url, path, token: async () => TOKEN, context: 'skep/prod' };
}

describe('the status of a commit', () => {
  test.each([
    {
      provider: 'github',
      path: `/api/v3/repos/team/fleet/statuses/${SHA}`,
      headers: { authorization: `Bearer ${TOKEN}`, 'x-github-api-version': '2022-11-28' },
      state: 'failure',
    },
    {
      provider: 'gitlab',
      path: `/api/v4/projects/team%2Ffleet/statuses/${SHA}`,
      headers: { 'private-token': TOKEN },
      state: 'failed',
    },
    {
      provider: 'gitea',
      path: `/api/v1/repos/team/fleet/statuses/${SHA}`,
      headers: { authorization: `token ${TOKEN}` },
      state: 'failure',
    },
  ] as const)('goes to $provider as it documents it', async ({ provider, path, headers, state }) => {
    const options = { ...statusOptions(provider), targetUrl: 'https://skep.example.com/runs' };
    await sendCommitStatus(outbound, options, notice('failure', 'problems: schema-enum'));
    const [got] = receiver.received;
    expect([got?.method, got?.path]).toEqual(['POST', path]);
    expect(got?.headers).toMatchObject({ 'content-type': 'application/json', ...headers });
    expect(JSON.parse(got?.body ?? '')).toEqual({
      state,
      context: 'skep/prod',
      description: 'problems: schema-enum',
      target_url: 'https://skep.example.com/runs',
    });
  });

  test('that GitLab has already is no fault; any other refusal is, and tells no secret', async () => {
    const options = statusOptions('gitlab', 'team/sub group/fleet');
    receiver.answer([400], '{"message":"Cannot transition status via :run from :running"}');
    await sendCommitStatus(outbound, options, notice('pending'));
    expect(receiver.received[0]?.path).toBe(`/api/v4/projects/team%2Fsub%20group%2Ffleet/statuses/${SHA}`);
    receiver.answer([401], `{"message":"${TOKEN} is wrong"}`);
    const refused = sendCommitStatus(outbound, options, notice('pending'));
    await expect(refused).rejects.toMatchObject({
      code: 'notify-failed',
      message: `${receiver.url} could not be notified: it answers 401`,
    });
  });
});

test('a webhook is signed over the bytes of its body, and names what changed', async () => {
  const url = `${receiver.url}/hooks/very-secret-path`;
  const webhook = { url, instance: 'prod', secret: async () => 'shared' };
  await sendWebhook(outbound, webhook, { ...notice('failure'), before: 'success' });
  const [got] = receiver.received;
  const signature = createHmac('sha256', 'shared')
    .update(got?.body ?? '')
    .digest('hex');
  expect(got?.headers).toMatchObject({ 'x-skep-event': 'run', 'x-skep-signature-256': `sha256=${signature}` });
  expect(JSON.parse(got?.body ?? '')).toMatchObject({
    version: 1,
    event: 'run',
    instance: 'prod',
    state: 'failure',
    before: 'success',
    run: { id: 'run-1', commits: { fleet: SHA } },
  });
  receiver.answer([503, 503]);
  receiver.forget();
  await sendWebhook(outbound, webhook, notice('success'));
  expect(receiver.received).toHaveLength(3);
  receiver.answer([0]);
  receiver.forget();
  const silent = await sendWebhook(outbound, webhook, notice('success')).catch((error: unknown) => error);
  expect(silent).toMatchObject({ code: 'notify-failed', message: expect.not.stringContaining('very-secret-path') });
  expect(receiver.received).toHaveLength(1);
});

test.each([
  { reason: 'is large', answer: (response: ServerResponse) => response.writeHead(200).end('x'.repeat(200_000)) },
  { reason: 'never ends', answer: (response: ServerResponse) => response.writeHead(202).write('x') },
])('a receiver whose answer $reason is told', async ({ answer }) => {
  const odd = createServer((request, response) => request.resume().on('end', () => answer(response)));
  await new Promise<void>((done) => odd.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(odd.address() as AddressInfo).port}/`;
  try {
    await sendWebhook(outbound, { url, instance: 'prod', secret: async () => 'shared' }, notice('success'));
  } finally {
    odd.closeAllConnections();
    odd.close();
  }
});

test.each<{ headers: Record<string, string>; retryAfterMs: number | undefined; attempts: number }>([
  { headers: { 'retry-after': '120' }, retryAfterMs: 120_000, attempts: 1 },
  {
    headers: { 'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT', date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
    retryAfterMs: 120_000,
    attempts: 1,
  },
  { headers: { 'retry-after': 'soon' }, retryAfterMs: undefined, attempts: 3 },
])('a receiver that is busy is asked again when it says: $headers', async ({ headers, retryAfterMs, attempts }) => {
  const sent: string[] = [];
  const busy: Outbound = {
    ...outbound,
    async request({ url }) {
      sent.push(url);
      return { status: 429, headers, body: new Uint8Array(), url };
    },
  };
  const webhook = { url: 'https://chat.example.com/x', instance: 'prod', secret: async () => 'shared' };
  const failure = await sendWebhook(busy, webhook, notice('success')).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'notify-failed' });
  expect((failure as Failure).data.retryAfterMs).toBe(retryAfterMs);
  expect(sent).toHaveLength(attempts);
});

test('a webhook of thousands of problems is a small message that says how many more there are', async () => {
  const problems = Array.from({ length: 1000 }, (_none, index) => ({
    code: 'schema-enum',
    severity: 'error' as const,
    message: 'm',
    file: `${'deep/'.repeat(800)}${index}.yaml`,
  }));
  const many = { ...notice('failure'), record: record({ problems, omitted: { problems: 9000 } }) };
  await sendWebhook(outbound, { url: receiver.url, instance: 'prod', secret: async () => 'shared' }, many);
  const body = receiver.received[0]?.body ?? '';
  expect(body.length).toBeLessThan(500_000);
  expect(JSON.parse(body)).toMatchObject({ problemsOmitted: 9900, problems: { length: 100 } });
});

describe('a channel', () => {
  /** Runs with these states, a minute apart, and what was reported of them; `restart` forgets all but the memory. */
  async function reported(
    runs: readonly (Partial<RunRecord> | 'restart' | 'hour')[],
    failing = false,
    retryAfterMs = 0,
    noticeOf: Channel['notice'] = (each) => noticeOfCommit(each, 'fleet'),
  ): Promise<string[]> {
    let now = 0;
    let kept: ReadonlyMap<string, LastNotice> = new Map();
    const sent: string[] = [];
    const open = () =>
      openNotices({
        channels: [
          {
            key: 'one',
            notice: noticeOf,
            async send({ state, about, before }) {
              sent.push(`${before ?? 'none'}>${state}@${about.slice(0, 2)}`);
              if (failing) throw new Failure('notify-failed', 'no', { data: { retryAfterMs } });
            },
          },
        ],
        memory: {
          read: async () => kept,
          write: async (next) => {
            kept = next;
          },
        },
        clock: { now: () => now },
      });
    let notices = open();
    for (const run of runs) {
      if (run === 'restart') notices = open();
      else if (run === 'hour') now += 3_600_000;
      else {
        now += 60_000;
        await notices.tell(record(run));
      }
    }
    return sent;
  }

  const ok = {};
  const pending = { state: 'progressing' } as const;
  const broken = { state: 'failed', unready: ['tools/MCPServer/clock'] } as const;
  const offline = { state: 'failed', failures: [{ code: 'git-unreachable', message: '' }] } as const;
  const next = { commits: { fleet: '9c1d0c5ad1' } };
  const rolledBack = { pinned: [{ source: 'fleet', good: SHA, bad: '77' }] };

  test.each([
    { reason: 'the same state once', runs: [ok, ok, ok], reported: ['none>success@41'] },
    { reason: 'a restart tells nothing anew', runs: [ok, 'restart', ok], reported: ['none>success@41'] },
    {
      reason: 'from pending to success',
      runs: [pending, pending, ok],
      reported: ['none>pending@41', 'pending>success@41'],
    },
    { reason: 'pods that come and go later', runs: [ok, pending, ok, pending], reported: ['none>success@41'] },
    {
      reason: 'a fault and its mend',
      runs: [ok, broken, ok],
      reported: ['none>success@41', 'success>failure@41', 'failure>success@41'],
    },
    { reason: 'the next commit', runs: [ok, next], reported: ['none>success@41', 'success>success@9c'] },
    { reason: 'a world that is away blames no commit', runs: [ok, offline, ok], reported: ['none>success@41'] },
    { reason: 'what was rolled back', runs: [rolledBack, rolledBack], reported: ['none>failure@77'] },
    { reason: 'no run of the source', runs: [{ commits: {} }], reported: [] },
  ])('is told of $reason', async ({ runs, reported: expected }) => {
    expect(await reported(runs)).toEqual(expected);
  });

  const without = { commits: {} };
  const edited = { ...without, outcomes: [{ action: 'configured', resource: 'tools/MCPServer/a' }] } as const;
  const added = { ...without, outcomes: [{ action: 'created', resource: 'tools/MCPServer/b' }] } as const;
  const invalid = (resource: string) =>
    ({ ...without, state: 'failed', problems: [{ code: 'x', severity: 'error', message: '', resource }] }) as const;

  test.each([
    { reason: 'each change once', runs: [edited, without, without, added, without], states: ['success', 'success'] },
    {
      reason: 'a change that is not ready yet, and its end',
      runs: [without, { ...edited, ...pending }, { ...without, ...pending }, without, without],
      states: ['success', 'pending', 'success'],
    },
    { reason: 'no pods that come and go', runs: [edited, { ...without, ...pending }, without], states: ['success'] },
    {
      reason: 'each problem once',
      runs: [without, invalid('a'), invalid('a'), invalid('b'), without],
      states: ['success', 'failure', 'failure', 'success'],
    },
    {
      reason: 'a cluster that is away',
      runs: [without, { ...without, ...offline }, { ...without, ...offline }, without],
      states: ['success', 'failure', 'success'],
    },
  ])('of an instance without sources is told of $reason', async ({ runs, states }) => {
    const sent = await reported(runs, false, 0, noticeOfRun);
    expect(sent.map((each) => each.replace(/^.*>|@.*$/g, ''))).toEqual(states);
  });

  test('that flaps is told of ten swings an hour, then of what stands at its end', async () => {
    const swings = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? ok : broken));
    expect(await reported(swings)).toHaveLength(10);
    expect((await reported([...swings, 'hour', ok])).at(-1)).toBe('failure>success@41');
  });

  test('hears of each commit, however many there are, up to sixty times an hour', async () => {
    const commits = Array.from({ length: 30 }, (_, index) => ({ commits: { fleet: `${10 + index}0d5a` } }));
    const both = commits.flatMap((each) => [{ ...pending, ...each }, each]);
    expect(await reported(both)).toHaveLength(60);
    expect(await reported([...both, { commits: { fleet: 'ff' } }])).toHaveLength(60 + 1);
  });

  test('that says when to try again is left alone until then', async () => {
    expect(await reported([ok, ok, ok, ok, ok, ok], true)).toHaveLength(3);
    expect(await reported([ok, ok, ok, ok, ok, ok], true, 5 * 60_000)).toHaveLength(2);
  });

  test('that does not answer is left alone for longer and longer', async () => {
    expect(
      await reported(
        Array.from({ length: 61 }, () => ok),
        true,
      ),
    ).toHaveLength(6);
  });
});

test('a channel that names changes gets all that it missed, also after a restart, and if the commit is undone', async () => {
  let kept: ReadonlyMap<string, LastNotice> = new Map();
  const sent: (Notice['unsent'] | 'none')[] = [];
  let now = 0;
  async function tell(changes: Partial<RunRecord>, isAway = false): Promise<void> {
    const notices = openNotices({
      channels: [
        {
          key: 'one',
          notice: noticeOfRun,
          namesChanges: true,
          async send({ unsent }) {
            if (isAway) throw new Failure('notify-failed', 'no');
            sent.push(unsent ?? 'none');
          },
        },
      ],
      memory: {
        read: async () => kept,
        write: async (next) => {
          kept = next;
        },
      },
      clock: { now: () => now },
    });
    now += 60_000;
    await notices.tell(record(changes));
  }
  const summary = { created: 0, configured: 0, unchanged: 0, deleted: 0, held: 0, failed: 0 };
  const created = (name: string): Partial<RunRecord> => ({
    summary: { ...summary, created: 1 },
    outcomes: [
      { action: 'created', resource: name },
      { action: 'unchanged', resource: 'other' },
    ],
  });
  await tell(created('a'), true);
  await tell({}, true);
  await tell(created('b'), true);
  await tell({});
  await tell({});
  await tell({ ...created('c'), commits: { fleet: '77' } }, true);
  await tell({});
  const unsent = (...names: readonly string[]) => ({
    summary: { created: names.length, configured: 0, deleted: 0 },
    outcomes: names.map((resource) => ({ action: 'created', resource })),
  });
  expect(sent).toEqual([unsent('a', 'b'), unsent('c')]);
});

test.each<{ reason: string; changes: Partial<RunRecord>; says: string }>([
  { reason: 'nothing to do', changes: {}, says: 'as declared' },
  {
    reason: 'codes and no messages',
    changes: { state: 'failed', problems: [{ code: 'schema-enum', severity: 'error', message: 'secret text' }] },
    says: 'problems: schema-enum',
  },
  {
    reason: 'which source waits',
    changes: { state: 'progressing', waits: [{ source: 'apps', for: 'infra', reason: 'secret text' }] },
    says: 'apps waits for infra',
  },
  {
    reason: 'how to approve',
    changes: {
      state: 'waiting',
      approvals: [
        { source: 'fleet', hash: '3f1c', reasons: [], deletions: ['a'] },
        { source: 'other', hash: '77aa', reasons: [], deletions: ['b'] },
      ],
    },
    says: 'deletions wait: skep approve 3f1c; deletions wait: skep approve 77aa',
  },
])('the line of a run says $reason', ({ changes, says }) => {
  expect(noticeOfRun(record(changes)).description).toBe(says);
});

describe('an instance', () => {
  let world: World;
  let folder: InstanceFolder;

  beforeAll(async () => {
    world = await startWorld();
    folder = instanceFolder(world);
    writeFileSync(join(folder.dir, 'token'), `${TOKEN}\n`);
    const file = join(folder.dir, 'token');
    folder.configure({
      notify: {
        commitStatus: { provider: 'gitea', tokenFile: file, apiUrl: `${receiver.url}/api/v1` },
        webhooks: [{ url: `${receiver.url}/hook`, secretFile: file }],
      },
    });
  });

  afterAll(async () => {
    await world.close();
    folder.remove();
  });

  function states(): string[] {
    return receiver.received.map(({ path, body }) => `${path} ${JSON.parse(body).state}`);
  }

  test('tells forge and webhook what became of a commit, each state once, also over restarts', async () => {
    const run = () => folder.use((instance) => instance.run({ waitSeconds: 30 }));
    const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: tools}\nstringData: {k: hush-hush}\n';
    const commit = world.fleet.commit({ ...fleetFiles({ clock: '1.0.0' }), 'cluster/secret.yaml': secret });
    const { warnings } = await run();
    expect(warnings).toEqual([]);
    const status = (id: string) => `/api/v1/repos/fleet/statuses/${id}`;
    expect(states().sort()).toEqual([`${status(commit)} success`, '/hook success'].sort());
    world.cluster.cluster.resetCounters();
    await run();
    expect(receiver.received).toHaveLength(2);
    expect(world.cluster.cluster.counters().writes).toEqual({});
    const broken = world.fleet.commit({ 'cluster/broken.yaml': 'kind: MCPServer\n' });
    await run();
    await run();
    expect(states().slice(2).sort()).toEqual([`${status(broken)} failure`, '/hook failure'].sort());
    for (const { body } of receiver.received) expect(body).not.toContain('hush-hush');
  });

  test('that cannot tell runs all the same, with a warning', async () => {
    receiver.answer([401, 401]);
    world.fleet.commit({ 'cluster/broken.yaml': undefined, ...fleetFiles({ clock: '2.0.0' }) });
    const result = await folder.use((instance) => instance.run({ waitSeconds: 0 }));
    expect(result.failures).toEqual([]);
    expect(result.warnings.map(({ code }) => code)).toEqual(['notify-failed', 'notify-failed']);
    expect(JSON.stringify(result.warnings.map(({ message }) => message))).not.toContain(TOKEN);
  });
});
