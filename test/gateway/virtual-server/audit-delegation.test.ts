// Tests that audit events of requests, workflows and steps contain the actors of a token (RFC 8693).

import { afterAll, beforeAll, expect, it } from 'vitest';
import { delegationOf } from '#gateway/gate/audit-delegation.ts';
import { type RecordingProvider, startRecordingProvider } from '../issuer/recording-provider.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, runVirtual } from './world.ts';

const CHAIN = { iss: 'https://a.example', sub: 'one', extra: 'x', act: { sub: 'two', act: { sub: 'three' } } };

let provider: RecordingProvider;
let member: TestMember;

beforeAll(async () => {
  [provider, member] = await Promise.all([startRecordingProvider(), startMember({ tools: [tool('echo')] })]);
});
afterAll(() => Promise.all([provider.close(), member.close()]));

async function delegationsOf(claims: object, maxDelegationDepth?: number) {
  const audience = 'office';
  const server = await runVirtual(
    configOf(
      { member },
      {
        incomingAuth: {
          type: 'oidc',
          oidc: {
            ...{ issuer: provider.url, audience, resource: 'http://office.example/mcp', scopes: ['openid'] },
            ...{ insecureAllowHttp: true, jwksAllowPrivateIp: true, protectedResourceAllowPrivateIp: false },
          },
          authz: { type: 'none' },
        },
        audit: {
          component: 'office',
          enabled: true,
          includeRequestData: false,
          includeResponseData: false,
          maxDataSize: 0,
          maxDelegationDepth,
        },
        compositeTools: [
          {
            name: 'twice',
            description: 'Calls echo.',
            parameters: { type: 'object' },
            timeout: '30s',
            steps: [{ id: 'one', type: 'tool', tool: 'member.echo', arguments: {} }],
          },
        ],
      },
    ),
  );
  const token = await provider.sign({ iss: provider.url, aud: audience, sub: 'ada', ...claims });
  const client = await connect(server, {}, { authorization: `Bearer ${token}` });
  await client.ask('tools/call', { name: 'twice', arguments: {} });
  await server.stop();
  const wanted = ['mcp_tool_call', 'vmcp_workflow_started', 'vmcp_workflow_step_started'];
  return wanted.map((type) => server.audit.find((event) => event.type === type)?.delegation);
}

it('contains actors with the newest first, up to the configured number', async () => {
  const two = { chain: [{ iss: 'https://a.example', sub: 'one' }, { sub: 'two' }], truncated: true, omitted: 1 };
  expect(await delegationsOf({ act: CHAIN }, 2)).toEqual(Array(3).fill({ ...two, malformed: false }));
  const all = await delegationsOf({ act: CHAIN });
  expect(all.map(({ chain, truncated }) => [chain.length, truncated])).toEqual(Array(3).fill([3, false]));
});

it('contains no actors if the token has none', async () => {
  expect(await delegationsOf({})).toEqual([undefined, undefined, undefined]);
});

it.each<[string, object, object]>([
  ['is not an object', { act: 'agent' }, { chain: [], malformedReason: 'act_not_object' }],
  ['has an invalid nested actor', { act: { sub: 'a', act: 1 } }, { malformedReason: 'nested_act_not_object' }],
  ['has an issuer that is not a text', { act: { iss: 1, sub: 'a' } }, { malformedReason: 'iss_not_string' }],
  ['has a subject that is not a text', { act: { sub: [] } }, { chain: [{}], malformedReason: 'sub_not_string' }],
])('reports that the claim %s', (_what, claims, expected) => {
  expect(delegationOf({ ...claims })).toMatchObject({ malformed: true, omitted: 0, ...expected });
});

it('contains ten actors by default, with shortened texts', () => {
  let act: Record<string, unknown> = { sub: 'x'.repeat(300) };
  for (let depth = 0; depth < 11; depth += 1) act = { sub: 'y'.repeat(300), act };
  const found = delegationOf(JSON.parse(JSON.stringify({ act })));
  expect(found).toMatchObject({ truncated: true, omitted: 2 });
  expect(found?.chain.map(({ sub }) => sub?.length)).toEqual(Array(10).fill(256));
});
