// Tests remote servers that a virtual server calls without a proxy: their headers and their trusted certificates.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { createPrivateAuthority, type PrivateAuthority } from '../../harness/private-authority.ts';
import { type MemberOptions, startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

let authority: PrivateAuthority;
beforeAll(() => {
  authority = createPrivateAuthority('entries');
});
afterAll(() => authority.remove());

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options: MemberOptions = {}): Promise<TestMember> {
  const member = await startMember({ tools: [tool('echo')], ...options });
  closing.push(() => member.close());
  return member;
}

type Listed = Partial<VmcpConfig['backends'][number]>;

async function serve(
  member: TestMember,
  listed: Listed,
  settings: Partial<VmcpConfig> = {},
  environment: Record<string, string> = {},
): Promise<TestedVirtualServer> {
  const config = configOf({ almanac: member }, settings);
  const backends = config.backends.map((backend) => ({ ...backend, ...listed }));
  const server = await runVirtual({ ...config, backends }, environment);
  closing.push(() => server.stop());
  return server;
}

const HEADERS = {
  addPlaintextHeaders: { 'X-Team': 'agents' },
  addHeadersFromSecret: { 'X-Api-Key': 'ALMANAC_0' },
};

test('every request to an entry has its configured headers, which override headers of the caller and of authentication', async () => {
  const member = await start();
  const backends = { almanac: { type: 'bearer_token' as const, bearerToken: { tokenEnv: 'TOKEN' } } };
  const server = await serve(
    member,
    { headerForward: HEADERS },
    { outgoingAuth: { source: 'discovered', backends } },
    { TOKEN: 'of-the-server', TOOLHIVE_SECRET_ALMANAC_0: 's3cret' },
  );
  const client = await connect(server, {}, { 'x-team': 'of the caller', 'x-api-key': 'of the caller' });
  await client.ask('tools/call', { name: 'almanac_echo', arguments: {} });
  const [call] = member.calls('tools/call');
  expect(call?.headers).toMatchObject({
    'x-team': 'agents',
    'x-api-key': 's3cret',
    authorization: 'Bearer of-the-server',
  });
  const sent = member.asked.map(({ headers }) => [headers['x-team'], headers['x-api-key']]);
  expect(new Set(sent.map(String))).toEqual(new Set(['agents,s3cret']));
});

test('a server does not start if a secret header has no value', async () => {
  const member = await start();
  await expect(serve(member, { headerForward: HEADERS })).rejects.toMatchObject({ code: 'credential-secret-missing' });
});

test('the certificates of an entry are trusted only for this entry', async () => {
  const { cert, key, file } = authority;
  const [trusted, other] = await Promise.all([
    start({ certificate: { cert, key } }),
    start({ certificate: { cert, key } }),
  ]);
  const config = configOf({ trusted, other }, {});
  const backends = config.backends.map((backend) =>
    backend.name === 'trusted' ? { ...backend, caBundlePath: file } : backend,
  );
  const mode = { ...config.operational.failureHandling, partialFailureMode: 'best_effort' as const };
  const operational = { ...config.operational, failureHandling: mode };
  const server = await runVirtual({ ...config, backends, operational });
  closing.push(() => server.stop());
  const client = await connect(server);
  const { tools } = await client.ask('tools/list');
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(['trusted_echo']);
  expect(other.asked).toEqual([]);
});

test('a file without certificates prevents the start', async () => {
  const member = await start({ certificate: authority });
  await expect(serve(member, { caBundlePath: '/nowhere/ca.crt' })).rejects.toMatchObject({
    code: 'outbound-ca-invalid',
  });
});
