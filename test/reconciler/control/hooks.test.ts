// Webhooks over real HTTP, signed as each Git server signs: who may start a run, and with what.

import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Failure } from '#std/failure.ts';
import { PATIENCE_MS } from '../../harness/patience.ts';
import { controlApp } from './control-app.ts';

const SECRET = 'the old one';
const NEW_SECRET = `whsec_${Buffer.from('0123456789abcdef').toString('base64')}`;
const NOW = Date.parse('2026-11-21T12:00:00Z');

let secrets: readonly string[] | Failure;
let triggered: string[];
let fresh: boolean;
let counted: string[];
let url: string;
let close: (() => Promise<unknown>) | undefined;

const SOURCES = [
  { name: 'fleet', repository: 'git@git.example.com:platform/fleet.git', branch: 'main' },
  { name: 'releases', repository: 'https://git.example.com/platform/releases', semver: '>=1' },
  { name: 'tagged', repository: 'ssh://git@git.example.com:2222/platform/tagged.git', tag: 'live' },
  { name: 'pinned', repository: 'https://git.example.com/platform/pinned.git', commit: '0'.repeat(40) },
  { name: 'usual', repository: 'https://git.example.com/platform/usual.git' },
  { name: 'behind-443', repository: 'ssh://git@ssh.github.com:443/platform/behind.git', branch: 'main' },
  { name: 'lab-behind-443', repository: 'ssh://git@altssh.gitlab.com:443/platform/behind.git', branch: 'main' },
];

beforeEach(async () => {
  secrets = [SECRET, NEW_SECRET];
  triggered = [];
  counted = [];
  fresh = true;
  const app = controlApp({
    hooks: {
      sources: SOURCES,
      now: () => NOW,
      monotonic: () => 0,
      counted: (provider, outcome) => counted.push(`${provider} ${outcome}`),
      secrets: {
        async values() {
          if (secrets instanceof Failure) throw secrets;
          return secrets;
        },
      },
    },
    trigger(reason) {
      triggered.push(reason);
      return fresh;
    },
  });
  close = () => app.close();
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => close?.());

type Headers = Readonly<Record<string, string>>;

async function post(headers: Headers, body: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const response = await fetch(`${url}/hooks/git`, init);
  return { status: response.status, body: await response.json() };
}

function hex(body: string, secret = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

function github(body: string, event = 'push', secret = SECRET): Headers {
  return { 'x-github-event': event, 'x-hub-signature-256': `sha256=${hex(body, secret)}` };
}

/** GitLab's signing token, as Standard Webhooks has it. */
function gitlabSigned(body: string, at = NOW / 1000, key = Buffer.from('0123456789abcdef')): Headers {
  const signature = createHmac('sha256', key).update(`id-1.${at}.${body}`).digest('base64');
  return {
    'x-gitlab-event': 'Push Hook',
    'webhook-id': 'id-1',
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,bm90IHRoaXMgb25l v1,${signature}`,
  };
}

const GITHUB_PUSH = JSON.stringify({
  ref: 'refs/heads/main',
  repository: { clone_url: 'https://git.example.com/Platform/Fleet.git', default_branch: 'main' },
});
const GITLAB_PUSH = JSON.stringify({
  object_kind: 'push',
  ref: 'refs/heads/main',
  project: { git_ssh_url: 'ssh://git@git.example.com:2222/platform/fleet.git', default_branch: 'main' },
});
const FORM = new URLSearchParams({ payload: GITHUB_PUSH }).toString();
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

test.each([
  { by: 'GitHub', headers: github(GITHUB_PUSH), body: GITHUB_PUSH, provider: 'github' },
  {
    by: 'GitHub, by the other secret',
    headers: github(GITHUB_PUSH, 'push', NEW_SECRET),
    body: GITHUB_PUSH,
    provider: 'github',
  },
  { by: 'GitHub, as a form', headers: { ...github(FORM), ...FORM_TYPE }, body: FORM, provider: 'github' },
  {
    by: 'GitLab, by its token',
    headers: { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': SECRET },
    body: GITLAB_PUSH,
    provider: 'gitlab',
  },
  { by: 'GitLab, by its signing token', headers: gitlabSigned(GITLAB_PUSH), body: GITLAB_PUSH, provider: 'gitlab' },
  {
    by: 'Gitea',
    headers: { 'x-gitea-event': 'push', ...github(GITHUB_PUSH), 'x-gitea-signature': hex(GITHUB_PUSH) },
    body: GITHUB_PUSH,
    provider: 'gitea',
  },
  {
    by: 'Forgejo',
    headers: {
      'x-forgejo-event': 'push',
      'x-gitea-signature': hex(GITHUB_PUSH),
      'x-forgejo-signature': hex(GITHUB_PUSH),
    },
    body: GITHUB_PUSH,
    provider: 'forgejo',
  },
])('a push told by $by starts a run', async ({ headers, body, provider }) => {
  const seen = await post(headers, body);
  expect(seen).toEqual({ status: 202, body: { version: 1, status: 'queued', sources: ['fleet'] } });
  expect(triggered).toEqual(['webhook']);
  expect(counted).toEqual([`${provider} accepted`]);
});

test.each([
  { reason: 'no signature', headers: { 'x-github-event': 'push' }, status: 401, code: 'control-hook-unsigned' },
  { reason: 'another secret', headers: github(GITHUB_PUSH, 'push', 'x'), status: 403, code: 'control-hook-forged' },
  { reason: 'of another body', headers: github('{}'), status: 403, code: 'control-hook-forged' },
  { reason: 'no hex', headers: { 'x-hub-signature-256': 'sha256=' }, status: 403, code: 'control-hook-forged' },
  { reason: 'another token', headers: { 'x-gitlab-token': 'the old' }, status: 403, code: 'control-hook-forged' },
  {
    reason: 'wrong by its own header, right by that of GitHub',
    headers: { ...github(GITHUB_PUSH), 'x-forgejo-signature': hex('{}') },
    status: 403,
    code: 'control-hook-forged',
  },
  {
    reason: 'older than five minutes',
    headers: gitlabSigned(GITHUB_PUSH, NOW / 1000 - 301),
    status: 403,
    code: 'control-hook-forged',
  },
  {
    reason: 'without a time',
    headers: { ...gitlabSigned(GITHUB_PUSH), 'webhook-timestamp': '' },
    status: 403,
    code: 'control-hook-forged',
  },
])('a signature: $reason: $status', async ({ headers, status, code }) => {
  expect(await post(headers, GITHUB_PUSH)).toMatchObject({ status, body: { version: 1, code } });
  expect(triggered).toEqual([]);
});

test.each([
  { reason: 'another repository', repository: 'https://git.example.com/platform/other.git', ref: 'refs/heads/main' },
  { reason: 'another host', repository: 'https://git.example.org/platform/fleet.git', ref: 'refs/heads/main' },
  { reason: 'another branch', repository: 'https://git.example.com/platform/fleet.git', ref: 'refs/heads/maine' },
  {
    reason: 'a tag where a branch is followed',
    repository: 'https://git.example.com/platform/fleet.git',
    ref: 'refs/tags/main',
  },
  { reason: 'another tag', repository: 'https://git.example.com/platform/tagged', ref: 'refs/tags/v1' },
  { reason: 'a commit is followed', repository: 'https://git.example.com/platform/pinned', ref: 'refs/heads/main' },
  { reason: 'not the default branch', repository: 'https://git.example.com/platform/usual', ref: 'refs/heads/draft' },
  { reason: 'a URL that is none', repository: 'x', ref: 'refs/heads/main' },
])('$reason: ignored', async ({ repository, ref }) => {
  const body = JSON.stringify({ ref, repository: { clone_url: repository, default_branch: 'main' } });
  expect(await post(github(body), body)).toMatchObject({ status: 202, body: { status: 'ignored' } });
  expect(triggered).toEqual([]);
});

test.each([
  { repository: 'https://git.example.com/platform/releases.git', ref: 'refs/tags/v1.2.3', source: 'releases' },
  { repository: 'git@git.example.com:platform/tagged.git', ref: 'refs/tags/live', source: 'tagged' },
  { repository: 'https://git.example.com/platform/usual/', ref: 'refs/heads/main', source: 'usual' },
  { repository: 'https://github.com/platform/behind.git', ref: 'refs/heads/main', source: 'behind-443' },
  { repository: 'git@gitlab.com:platform/behind.git', ref: 'refs/heads/main', source: 'lab-behind-443' },
])('$ref of $repository is followed by $source', async ({ repository, ref, source }) => {
  const body = JSON.stringify({ ref, repository: { ssh_url: repository, default_branch: 'main' } });
  expect(await post(github(body), body)).toMatchObject({ body: { status: 'queued', sources: [source] } });
});

test.each([
  { event: 'ping', body: '{"zen": "x"}', status: 200, answer: { status: 'pong' } },
  {
    event: 'issues',
    body: GITHUB_PUSH,
    status: 202,
    answer: { status: 'ignored', reason: 'this event is not a push' },
  },
  { event: 'push', body: 'no json', status: 400, answer: { code: 'control-hook-unreadable' } },
  { event: 'push', body: '[]', status: 400, answer: { code: 'control-hook-unreadable' } },
])('$event with $body: $status', async ({ event, body, status, answer }) => {
  expect(await post(github(body, event), body)).toMatchObject({ status, body: { version: 1, ...answer } });
  expect(triggered).toEqual([]);
});

test('one that comes while a run waits is told so', async () => {
  fresh = false;
  expect(await post(github(GITHUB_PUSH), GITHUB_PUSH)).toMatchObject({ body: { status: 'already queued' } });
});

test('without a readable secret nobody gets in', async () => {
  secrets = new Failure('secret-file-unreadable', 'gone');
  const headers = github(GITHUB_PUSH);
  expect(await post(headers, GITHUB_PUSH)).toMatchObject({ status: 503, body: { code: 'control-token-unreadable' } });
});

test('where there is no secret at all, it is closed', async () => {
  const app = controlApp({});
  try {
    const open = await app.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(`${open}/hooks/git`, { method: 'POST', headers: github('{}'), body: '{}' });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 403,
      body: { code: 'control-hook-closed' },
    });
  } finally {
    await app.close();
  }
});

test('who is unknown keeps nobody out, whatever is sent, and takes little memory', async () => {
  for (let each = 0; each < 40; each += 1) expect((await post({}, '{}')).status).toBe(401);
  for (let each = 0; each < 40; each += 1) expect((await post(github('else'), '{}')).status).toBe(403);
  // Large ones that never end.
  const large = { ...github('else'), 'content-length': String(1024 * 1024) };
  const held = Array.from({ length: 4 }, () => request(`${url}/hooks/git`, { method: 'POST', headers: large }));
  for (const each of held) {
    each.on('error', () => undefined);
    each.write('{');
  }
  const padded = GITHUB_PUSH + ' '.repeat(100_000);
  await vi.waitFor(async () => expect((await post(github(padded), padded)).status).toBe(429), PATIENCE_MS);
  expect((await post(github(GITHUB_PUSH), GITHUB_PUSH)).status).toBe(202);
  for (const each of held) each.destroy();
  await vi.waitFor(async () => expect((await post(github(padded), padded)).status).toBe(202), PATIENCE_MS);
});

test('a body larger than what Git servers send is not read to its end', async () => {
  const body = 'x'.repeat(6 * 1024 * 1024);
  const refused = await post(github(body), body).catch((error: unknown) => error);
  // The connection may be closed before the client has sent all.
  if (!(refused instanceof Error)) expect(refused).toMatchObject({ status: 413 });
  expect(triggered).toEqual([]);
});
