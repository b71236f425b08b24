// Messages about runs to Slack and Microsoft Teams: what changed, by which commit, what waits and how it is approved, in the form and
// within the limits of each, and never at the expense of a run.

import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createOutbound } from '#adapters/http/outbound.ts';
import { sendChat } from '#adapters/notify/chat.ts';
import { slackBody } from '#adapters/notify/slack.ts';
import { teamsBody } from '#adapters/notify/teams.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { failedRecord } from '#reconciler/run/history/record.ts';
import { chatMessageOf } from '#reconciler/run/notify/chat.ts';
import { noticeOfChat } from '#reconciler/run/notify/notices.ts';
import type { ChatMessage, LastNotice, NoticeState } from '#reconciler/run/notify/ports.ts';
import { openNotices } from '#reconciler/run/notify/tell.ts';
import { Failure } from '#std/failure.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { type Receiver, startReceiver } from '../../harness/receiver.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { readSlack, readTeams } from './chat-formats.ts';
import { publish } from './fleet.ts';

const SHA = '41be9e2f0741be9e2f0741be9e2f0741be9e2f07';
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

const OPTIONS = {
  instance: 'prod',
  commitUrl: (_source: string, commit: string) => `https://git.example.com/team/fleet/commit/${commit}`,
  firstKinds: new Set(['MCPServer']),
  page: 'https://skep.example.com/runs?a=1&b=2',
};

function messageOf(changes: Partial<RunRecord>, before?: NoticeState): ChatMessage | undefined {
  return chatMessageOf({ ...noticeOfChat(record(changes)), before }, OPTIONS);
}

function shown(changes: Partial<RunRecord>, before?: NoticeState): readonly [slack: string, teams: string] {
  const message = messageOf(changes, before);
  if (message === undefined) return ['', ''];
  return [readSlack(slackBody(message)), readTeams(teamsBody(message))];
}

const NOTHING = { created: 0, configured: 0, unchanged: 0, deleted: 0, held: 0, failed: 0 };

const CHANGED: Partial<RunRecord> = {
  state: 'waiting',
  summary: { ...NOTHING, created: 2, configured: 1, deleted: 1 },
  outcomes: [
    { action: 'created', resource: 'tools/MCPServer/clock' },
    { action: 'configured', resource: 'tools/MCPServer/owl', diff: [{ path: '/spec/env', after: 'hush' }] },
    { action: 'deleted', resource: 'tools/Deployment/wiki' },
    { action: 'created', resource: 'tools/MCPServer/wiki' },
    { action: 'unchanged', resource: 'tools/MCPServer/wiki' },
  ],
  approvals: [
    { source: 'fleet', hash: '3f1c77', reasons: ['more than 20'], deletions: ['docs/MCPServer/a', 'docs/MCPServer/b'] },
  ],
  problems: [
    {
      code: 'schema-enum',
      severity: 'error',
      message: 'secret text',
      file: 'fleet/wiki.yaml',
      line: 4,
      resource: 'x/MCPServer/y',
    },
    { code: 'secret-plaintext', severity: 'warning', message: 'not told' },
  ],
};

test('says what changed, by which commit, what waits and how it is approved', () => {
  const [slack, teams] = shown(CHANGED);
  expect(slack).toBe(`:hourglass_flowing_sand: *prod: changes wait for approval*
*Commits*
• [fleet at 41be9e2f07](https://git.example.com/team/fleet/commit/${SHA})
*2 created, 1 configured, 1 deleted*
• \`created tools/MCPServer/clock\`
• \`configured tools/MCPServer/owl\`
• \`created tools/MCPServer/wiki\`
• \`deleted tools/Deployment/wiki\`
*2 deletions of source fleet wait for approval*
• \`docs/MCPServer/a\`
• \`docs/MCPServer/b\`
To go on: \`skep approve 3f1c77\`
*1 problem*
• \`schema-enum, x/MCPServer/y, fleet/wiki.yaml:4\`
[More](https://skep.example.com/runs?a=1&b=2)`);
  const plain = slack.replace(':hourglass_flowing_sand: ', '').replaceAll(/[*`]/g, '');
  expect(teams).toBe(plain);
});

test.each<{ reason: string; changes: Partial<RunRecord>; before?: NoticeState; says: string }>([
  { reason: 'first of all that it works', changes: {}, says: 'prod: everything is as Git declares' },
  { reason: 'nothing of a commit without effect', changes: {}, before: 'success', says: '' },
  { reason: 'the end of a failure', changes: {}, before: 'failure', says: 'prod: everything is as Git declares again' },
  { reason: 'that it is ready now', changes: {}, before: 'pending', says: 'prod: everything is as Git declares' },
  {
    reason: 'that it is not ready',
    changes: { state: 'progressing' },
    says: 'prod: changes are applied and not ready yet',
  },
  {
    reason: 'which sources wait, without their reasons',
    changes: { state: 'progressing', waits: [{ source: 'apps', for: 'infra', reason: 'secret text' }] },
    says: `prod: 1 source waits for another one
Commits
• [fleet at 41be9e2f07](https://git.example.com/team/fleet/commit/${SHA})
1 source waits for another one
• source apps waits for source infra
[More]`,
  },
  {
    reason: 'an instance without sources',
    changes: {
      commits: {},
      outcomes: [{ action: 'created', resource: 'a/MCPServer/b' }],
      summary: { ...NOTHING, created: 1 },
    },
    before: 'success',
    says: 'prod: everything is as the custom resources declare\n1 created\n• created a/MCPServer/b',
  },
  {
    reason: 'problems of an instance without sources',
    changes: {
      state: 'failed',
      commits: {},
      problems: [{ code: 'schema-enum', severity: 'error', message: 'secret text', resource: 'x/MCPServer/y' }],
    },
    says: 'prod: not everything is as the custom resources declare\n1 problem\n• schema-enum, x/MCPServer/y',
  },
  {
    reason: 'that nothing could be read',
    changes: { state: 'failed', commits: {}, failures: [{ code: 'git-unreachable', message: 'https://secret@host' }] },
    says: 'prod: a run failed\n1 problem\n• git-unreachable',
  },
  {
    reason: 'resources in phase Failed',
    changes: { state: 'failed', unready: ['tools/MCPServer/clock'] },
    says: '\nin phase Failed\n• tools/MCPServer/clock',
  },
  {
    reason: 'changes that need a signed plan',
    changes: {
      state: 'waiting',
      outcomes: [{ action: 'held', resource: 'a/MCPServer/b', error: { code: 'plan-required', message: 'm' } }],
    },
    says: '\n1 change was not made\n• a/MCPServer/b (plan-required)',
  },
  {
    reason: 'changes of a source that was never read',
    changes: { state: 'waiting', approvals: [{ source: '', hash: 'ab', reasons: [], deletions: [] }] },
    says: '\nAll changes wait for approval\nTo go on: skep approve ab',
  },
  {
    reason: 'a rollback',
    changes: { state: 'failed', pinned: [{ source: 'fleet', good: SHA, bad: '77' }] },
    says: '\nrolled back\n• fleet stays at 41be9e2f07',
  },
])('says $reason', ({ changes, before, says }) => {
  const [slack, teams] = shown(changes, before);
  if (says === '') expect([slack, teams]).toEqual(['', '']);
  else for (const text of [slack.replaceAll(/[*`]/g, ''), teams]) expect(text).toContain(says);
});

test.each([
  '<!channel> <@U1> & <https://evil.example|click>',
  'a`b *c* _d_ ~e~',
  '[x](https://evil.example) # **h** <at>all</at>',
  '{{DATE(2026-01-01T00:00:00Z, SHORT)}} ${x}',
  'line\nbreak\u0007\u202e',
  '😀'.repeat(300),
])('names of others are texts and nothing else: %j', (name) => {
  const problems = [{ code: 'yaml-syntax', severity: 'error' as const, message: '', file: name }];
  const changes: Partial<RunRecord> = {
    state: 'failed',
    problems,
    commits: { [name]: SHA },
    pinned: [{ source: name, good: SHA, bad: SHA }],
    approvals: [{ source: name, hash: 'ab', reasons: [], deletions: [name] }],
  };
  for (const text of shown(changes)) {
    expect(text).toContain('yaml-syntax, ');
    expect(text).not.toContain('\u0007');
    expect(text).not.toContain('\u202e');
    expect(text.isWellFormed()).toBe(true);
  }
});

test('thousands of changes and problems become a message that is accepted, and says how many more there are', () => {
  const long = (index: number) => `team-${index}/MCPServer/${'&'.repeat(900)}`;
  const many = Array.from({ length: 1000 }, (_, index) => long(index));
  const changes: Partial<RunRecord> = {
    state: 'waiting',
    summary: { ...NOTHING, created: 5000 },
    outcomes: many.map((resource) => ({ action: 'created', resource })),
    problems: many.map((file) => ({ code: 'schema-enum', severity: 'error', message: '', file })),
    unready: many,
    commits: Object.fromEntries(many.slice(0, 60).map((name) => [name, SHA])),
    approvals: many.slice(0, 60).map((source) => ({ source, hash: 'ab', reasons: [], deletions: many })),
    pinned: many.map((source) => ({ source, good: SHA, bad: SHA })),
  };
  for (const text of shown(changes)) {
    expect(text).toContain('5000 created');
    expect(text).toMatch(/• and \d+ more/);
    expect(text).toContain('50 more lists wait for approval');
    expect(text).toContain('To go on: ');
  }
});

/** The states and commands of the messages about these runs. */
async function sentAbout(...runs: readonly Partial<RunRecord>[]): Promise<readonly string[]> {
  let kept: ReadonlyMap<string, LastNotice> = new Map();
  const sent: string[] = [];
  const notices = openNotices({
    channels: [
      {
        key: 'one',
        notice: noticeOfChat,
        async send(notice) {
          const command = chatMessageOf(notice, OPTIONS)?.sections.find((section) => section.command)?.command;
          sent.push(`${notice.state} ${command}`);
        },
      },
    ],
    memory: {
      read: async () => kept,
      write: async (next) => {
        kept = next;
      },
    },
    clock: { now: () => 0 },
  });
  for (const changes of runs) await notices.tell(record(changes));
  return sent;
}

test('a list that waits in place of another one, for the same commit, is news with its command', async () => {
  const waiting = (hash: string): Partial<RunRecord> => ({
    state: 'waiting',
    approvals: [{ source: 'fleet', hash, reasons: [], deletions: ['docs/MCPServer/a'] }],
  });
  expect(await sentAbout(waiting('aa'), waiting('aa'), waiting('bb'), {}, {})).toEqual([
    'pending skep approve aa',
    'pending skep approve bb',
    'success undefined',
  ]);
});

test('definitions of a server that differ from its lock are news once for each change, without the names that a server chooses', async () => {
  const drifted = (why: string): Partial<RunRecord> => ({ drifted: [{ resource: 'ops/MCPServer/files', why }] });
  expect(await sentAbout({}, drifted('tool a'), drifted('tool a'), drifted('tool b'), {}, {})).toEqual([
    'success undefined',
    'success skep lock --diff',
    'success skep lock --diff',
    'success undefined',
  ]);
  expect(noticeOfChat(record(drifted('tool a'))).description).toBe('1 server not as reviewed');
  const text = JSON.stringify(messageOf(drifted('tool a'), 'success'));
  expect(text).toContain('ops/MCPServer/files');
  expect(text).not.toContain('tool a');
});

describe('a channel', () => {
  const message: ChatMessage = { mood: 'good', headline: 'prod: done', sections: [] };

  test('gets JSON at the URL that its file holds', async () => {
    for (const service of ['slack', 'teams'] as const)
      await sendChat(outbound, { service, url: async () => `${receiver.url}/${service}?sig=secret` }, message);
    expect(receiver.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /slack?sig=secret',
      'POST /teams?sig=secret',
    ]);
    expect(receiver.received.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      'application/json',
    ]);
    expect(readSlack(receiver.received[0]?.body ?? '')).toContain('prod: done');
    expect(readTeams(receiver.received[1]?.body ?? '')).toBe('prod: done');
  });

  test('that is away for a moment gets it later; one that refuses is named without its URL', async () => {
    const url = async () => `${receiver.url}/services/T0/B0/secret`;
    receiver.answer([500, 500]);
    await sendChat(outbound, { service: 'slack', url }, message);
    expect(receiver.received).toHaveLength(3);
    receiver.forget();
    receiver.answer([410], 'channel_is_archived');
    const refused = await sendChat(outbound, { service: 'slack', url }, message).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'notify-failed',
      message: `${receiver.url} could not be notified: it answers 410`,
    });
    expect(receiver.received).toHaveLength(1);
  });

  test.each<{ reason: string; answer: (response: ServerResponse) => void; requests: number; retryAfterMs?: number }>([
    {
      reason: 'is busy and says until when',
      answer: (response) => response.writeHead(429, { 'retry-after': '30' }).end('rate_limited'),
      requests: 1,
      retryAfterMs: 30_000,
    },
    { reason: 'never answers', answer: () => undefined, requests: 1 },
    { reason: 'always fails', answer: (response) => response.writeHead(500).end(), requests: 3 },
  ])('that $reason keeps nothing waiting', async ({ answer, requests, retryAfterMs }) => {
    let count = 0;
    const server = createServer((request, response) => {
      count += 1;
      request.resume().on('end', () => answer(response));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`;
    try {
      const failure = await sendChat(outbound, { service: 'teams', url }, message).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'notify-failed', message: expect.not.stringContaining('secret') });
      expect((failure as Failure).data.retryAfterMs).toBe(retryAfterMs);
      expect(count).toBe(requests);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test.each([
    'not a url',
    'file:///etc/passwd',
    'ftp://x.example',
    'http://hooks.example.com/services/x',
    'http://127.0.0.1.example.com/x',
  ])('is refused if its file holds %s', async (text) => {
    const failure = await sendChat(outbound, { service: 'slack', url: async () => text }, message).catch(
      (e: unknown) => e,
    );
    expect(failure).toMatchObject({
      code: 'notify-failed',
      message:
        'The file that notify.chats names for slack does not hold an https URL: put the URL of the webhook into its first line.',
    });
  });
});

describe('an instance', () => {
  let world: World;
  let folder: InstanceFolder;

  beforeAll(async () => {
    world = await startWorld();
    folder = instanceFolder(world);
    for (const service of ['slack', 'teams']) writeFileSync(join(folder.dir, service), `${receiver.url}/${service}\n`);
    folder.configure({
      apply: { maxDeletes: 1, waitSeconds: 0 },
      notify: {
        chats: [
          { service: 'slack', urlFile: join(folder.dir, 'slack') },
          { service: 'teams', urlFile: join(folder.dir, 'teams'), targetUrl: 'https://skep.example.com/runs' },
        ],
      },
    });
  });

  afterAll(async () => {
    await world.close();
    folder.remove();
  });

  function run() {
    return folder.use((instance) => instance.run({ waitSeconds: 30 }));
  }

  function texts(): string[] {
    return receiver.received
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, body }) => (path === '/slack' ? readSlack(body) : readTeams(body)));
  }

  test('tells both what a commit changed, once, and then what waits with the command that lets it go', async () => {
    publish(world.fleet, { clock: '1.0.0', owl: '1.0.0', wiki: '1.0.0' });
    expect((await run()).warnings).toEqual([]);
    const [slack = '', teams = ''] = texts();
    for (const text of [slack, teams]) {
      expect(text).toContain('test: everything is as Git declares');
      expect(text).toContain('created tools/MCPServer/clock');
      expect(text).toMatch(/• .*fleet at [0-9a-f]{10}/);
    }
    expect(teams).toContain('[More](https://skep.example.com/runs)');
    receiver.forget();
    world.fleet.commit({ README: 'no effect' });
    await run();
    expect(receiver.received).toEqual([]);
    publish(world.fleet, { clock: '1.0.0' });
    const { plan } = await run();
    const [hash] = plan.waiting.map((list) => list.hash);
    expect(hash).toBeDefined();
    for (const text of texts()) {
      expect(text).toContain('test: changes wait for approval');
      expect(text).toMatch(
        /\d+ deletions of source fleet wait for approval.?\n• .?tools\/MCPServer\/owl.?\n• .?tools\/MCPServer\/wiki/,
      );
      expect(text).toMatch(new RegExp(`To go on: .?skep approve ${hash}`));
    }
  });

  test('gets the changes of a message that was not delivered with the next run, also from another process', async () => {
    publish(world.fleet, { clock: '1.0.0', owl: '1.0.0', wiki: '1.0.0' });
    await run();
    receiver.forget();
    receiver.answer([503, 503, 503, 503, 503, 503]);
    publish(world.fleet, { clock: '1.0.0', owl: '1.0.0', wiki: '1.0.0', tree: '1.0.0' });
    expect((await run()).warnings.map(({ code }) => code)).toEqual(['notify-failed', 'notify-failed']);
    receiver.forget();
    const { outcomes } = await run();
    expect(outcomes).toEqual([]);
    expect(texts()).toHaveLength(2);
    for (const text of texts()) expect(text).toContain('created tools/MCPServer/tree');
    receiver.forget();
    await run();
    expect(receiver.received).toEqual([]);
  });
});
