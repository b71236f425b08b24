// Tests skills (SEP-2640) behind a virtual server: a client lists the skills of all backends, and reads each file from
// the skill's backend.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { answerPlainly, answerResult, type Received, startServer, stopAll, type TestServer } from '../proxy/rig.ts';
import { startMember } from './member.ts';
import { askStateless, REVISION, SKILLS } from './stateless-client.ts';
import { configOf, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

const GREEDY = ['file:///SKILL.md', 'https:/SKILL.md', 'ui://chart/SKILL.md'];

const DECLARED = { [SKILLS]: {} };

let git: TestServer;
let desk: TestServer;
let office: TestedVirtualServer;

beforeAll(async () => {
  git = await startServer(answering('git', true, [skill('skill://git/SKILL.md'), skill('skill://both/SKILL.md')]));
  const unreadable = { uri: 'skill://none/SKILL.md', frontmatter: { name: 'none' }, resources: [] };
  desk = await startServer(
    answering('desk', false, [
      skill('skill://a/b/refund/SKILL.md', 'dynamic'),
      skill('skill://both/SKILL.md'),
      unreadable,
    ]),
  );
  office = await runVirtual(configOf(bothBackends()));
});
afterAll(async () => {
  await office.stop();
  await stopAll();
});

function bothBackends() {
  return { git: { url: `http://127.0.0.1:${git.port}/mcp` }, desk: { url: `http://127.0.0.1:${desk.port}/mcp` } };
}

function skill(uri: string, resources: unknown = [{ uri, digest: 'sha256:0' }]) {
  return { uri, frontmatter: { name: uri, description: 'Says how.' }, resources };
}

function answering(from: string, directoryRead: boolean, skills: readonly object[]) {
  return (received: Received): void => {
    const { response, message } = received;
    const lists = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    const extensions = { [SKILLS]: directoryRead ? { directoryRead } : {} };
    const got = { ...lists, from, got: message?.params };
    const results: Readonly<Record<string, object>> = {
      'server/discover': { supportedVersions: [REVISION], capabilities: { resources: {}, extensions }, ...lists },
      'resources/list': { resources: [], ...lists },
      'resources/templates/list': { resourceTemplates: [], ...lists },
      'skills/list': { skills, ...lists },
      ...{ 'skills/get': got, 'resources/read': got, 'resources/directory/read': got },
    };
    const result = results[message?.method ?? ''];
    if (message === undefined || result === undefined) answerPlainly(received);
    else answerResult(response, message, result);
  };
}

function ask(method: string, uri: string, server: TestedVirtualServer = office) {
  return askStateless(server, method, { uri }, uri, DECLARED);
}

async function listed(server: TestedVirtualServer) {
  const answer = await askStateless(server, 'skills/list', {}, '', DECLARED);
  return answer?.result.skills.map(({ uri }: { uri: string }) => uri);
}

test('skills are offered to clients of both eras, and folders if all backends support reading them', async () => {
  const discovered = await askStateless(office, 'server/discover', {}, '');
  expect(discovered?.result.capabilities.extensions).toEqual({ [SKILLS]: {} });
  const alone = await runVirtual(configOf({ git: bothBackends().git }));
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await postTo(alone.url, { id: 0, method: 'initialize', params });
  await alone.stop();
  expect(begun.json?.result.capabilities.extensions).toEqual({ [SKILLS]: { directoryRead: true } });
});

test('a client lists the unchanged skills of all backends', async () => {
  const answer = await askStateless(office, 'skills/list', {}, '', DECLARED);
  expect(answer?.result).toMatchObject({
    skills: [
      skill('skill://a/b/refund/SKILL.md', 'dynamic'),
      skill('skill://both/SKILL.md'),
      skill('skill://git/SKILL.md'),
    ],
    resultType: 'complete',
    cacheScope: 'public',
  });
});

test('a skill that clients cannot read is left out, and the log contains the reason', async () => {
  await office.written('frontmatter must be an object with name and description');
  expect(await listed(office)).not.toContain('skill://none/SKILL.md');
});

test.each([
  ['skills/get', 'skill://git/SKILL.md', 'git'],
  ['resources/read', 'skill://git/scripts/a/b.sh', 'git'],
  ['resources/directory/read', 'skill://git', 'git'],
  ['resources/read', 'skill://a/b/refund/table.csv', 'desk'],
  ['skills/get', 'skill://both/SKILL.md', 'desk'],
])('%s of %s reaches the backend %s', async (method, uri, member) => {
  expect((await ask(method, uri))?.result).toMatchObject({ from: member, got: { uri } });
});

test.each(['skill://gi', 'skill://a/b', 'skill://other/SKILL.md', `skill://${'/'.repeat(1_000_000)}`])(
  'a URI outside of all skills is not found',
  async (uri) => {
    expect((await postUri(uri))?.error.code).toBe(-32002);
  },
);

/** Reads a URI without the header `mcp-name`, which could be too long. */
async function postUri(uri: string) {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await postTo(office.url, { id: 0, method: 'initialize', params });
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  const { json } = await postTo(office.url, { id: 1, method: 'skills/get', params: { uri } }, session);
  return json;
}

test('a skill does not hide resources of other backends', async () => {
  const listing = [
    { uri: 'file:///notes.txt', name: 'notes' },
    { uri: 'ui://chart/view.html', name: 'view' },
  ];
  const owner = await startMember({ name: 'owner', resources: listing });
  const greedy = await startServer(
    answering(
      'greedy',
      false,
      GREEDY.map((uri) => skill(uri)),
    ),
  );
  const server = await runVirtual(configOf({ owner, greedy: { url: `http://127.0.0.1:${greedy.port}/mcp` } }));
  const uris = ['file:///notes.txt', 'ui://chart/view.html', 'file:///SKILL.md'];
  const answers = [];
  for (const uri of uris) answers.push((await ask('resources/read', uri, server))?.result.from);
  const unlisted = await ask('resources/read', 'file:///other.txt', server);
  await server.stop();
  await owner.close();
  expect(answers).toEqual(['owner', 'owner', 'greedy']);
  expect(unlisted?.error.code).toBe(-32602);
});

test('policies decide which skills a caller can list and read', async () => {
  const permit =
    'permit(principal, action == Action::"read_resource", resource) when { resource.uri like "skill://git/*" };';
  const settings: Partial<VmcpConfig> = {
    incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies: [permit] } },
  };
  const server = await runVirtual(configOf(bothBackends(), settings));
  const seen = await listed(server);
  const refused = await ask('skills/get', 'skill://both/SKILL.md', server);
  const got = await ask('skills/get', 'skill://git/SKILL.md', server);
  await server.stop();
  expect([seen, refused?.error.code, got?.result.from]).toEqual([['skill://git/SKILL.md'], 403, 'git']);
});
