// Lists the tests of settings for aggregation, backends, policies, audit and optimizer. In one file, because the rows
// share functions that observe a virtual server.

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GroupSettings } from '#contracts/authz-config.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Json } from '#std/json.ts';
import { startVirtual } from '../../harness/mcp-modes.ts';
import { type Behaviour, startEmbeddings } from './embeddings.ts';
import type { FieldRow } from './field-row.ts';
import { startMember, tool } from './member.ts';
import { connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

/** Starts a virtual server with two backends, whose URLs replace `http://one` and `http://two` in the configuration. */
export async function withMembers<T>(
  config: VmcpConfig,
  see: (server: TestedVirtualServer) => Promise<T>,
  slowMs?: number,
): Promise<T> {
  const tools = [tool('echo'), tool('read', { annotations: { readOnlyHint: true } })];
  const one = await startMember({ name: 'one', tools: [...tools, tool('hang')], slowMs });
  const two = await startMember({ name: 'two', tools: [tool('echo'), tool('other')] });
  const text = JSON.stringify(config).replaceAll('http://one', one.url).replaceAll('http://two', two.url);
  let server: TestedVirtualServer | undefined;
  try {
    server = await runVirtual(JSON.parse(text), { ONE: 'one', OPENAI_API_KEY: 'key' });
    return await see(server);
  } finally {
    // Ends requests that still wait for the backends.
    await Promise.all([one.close(), two.close()]);
    await server?.stop();
  }
}

/** Observes the listed tools and the result of calling each tool. */
function seeTools(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, async (server) => {
    const client = await connect(server).catch((error: Error) => error.message);
    if (typeof client === 'string') return client;
    const { tools, error } = await client.ask('tools/list');
    const names: readonly string[] = (tools ?? []).map(({ name }: { name: string }) => name);
    const called = names
      .filter((name) => !name.includes('hang'))
      .map((name) => client.ask('tools/call', { name, arguments: {} }));
    return { error, tools, called: await Promise.all(called) };
  });
}

async function seeName(config: VmcpConfig): Promise<unknown> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return withMembers(config, async ({ url }) => (await fetch(url, { method: 'POST', headers, body })).json());
}

function seeAudit(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, async (server) => {
    await (await connect(server)).ask('tools/list');
    await server.stop();
    return server.audit.map(({ type }) => type);
  });
}

/** Observes the audit data of a tool call. */
function seeAuditData(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, async (server) => {
    const client = await connect(server);
    await client.ask('tools/call', { name: 'one_echo', arguments: { word: 'asked' } });
    await server.stop();
    const { data } = server.audit.find(({ type }) => type === 'mcp_tool_call');
    return data === undefined ? 'none' : [data.request?.params, data.response?.result !== undefined];
  });
}

/** Observes the audit outcomes of a request that leads to a JSON-RPC error. */
function seeOutcome(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, async (server) => {
    const client = await connect(server);
    const params = { name: 'one_none', arguments: {} };
    await client.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    await server.stop();
    return server.audit.map(({ type, outcome }) => [type, outcome]);
  });
}

async function seeAuditFile(config: VmcpConfig): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'skep-audit-'));
  const logFile = config.audit?.logFile === undefined ? undefined : join(folder, 'audit.log');
  const audit = config.audit === undefined ? undefined : { ...config.audit, logFile };
  try {
    await seeAudit({ ...config, audit });
    return existsSync(join(folder, 'audit.log'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Observes the status of a request after an audit event could not be written. */
function seeUnaudited(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, async (server) => {
    const client = await connect(server);
    await server.written('audit events cannot be written');
    return (await client.post({ jsonrpc: '2.0', id: 7, method: 'ping' })).status;
  });
}

async function seeLog({ operational: { logLevel } }: VmcpConfig): Promise<unknown> {
  const server = await startVirtual({ operational: { ...operational({}).operational, logLevel } });
  try {
    await connect({ url: String(server.url) });
    return server.log().includes('"level":"debug"');
  } finally {
    await server.stop();
  }
}

function seeFound(description: string, behaviour: Behaviour = 'well'): FieldRow['see'] {
  return async (config) => {
    const service = await startEmbeddings();
    service.behave(behaviour);
    try {
      const text = JSON.stringify(config).replaceAll('http://service', service.url);
      return await withMembers(JSON.parse(text), async (server) => {
        for (let ready = false; !ready; ) ready = (await fetch(`${server.origin}/readyz`)).ok;
        const call = { name: 'find_tool', arguments: { tool_description: description } };
        const { structuredContent } = await (await connect(server)).ask('tools/call', call);
        const { tools, note } = structuredContent;
        const [waited] = /within \d+ ms/.exec(note ?? '') ?? [];
        return { names: tools.map(({ name }: { name: string }) => name), noted: note !== undefined, waited };
      });
    } finally {
      await service.close();
    }
  };
}

/** Observes the request to an embedding service with OpenAI's API. */
async function seeOpenAi(config: VmcpConfig): Promise<unknown> {
  const service = await startEmbeddings();
  try {
    const text = JSON.stringify(config).replaceAll('http://service', service.url);
    return await withMembers(JSON.parse(text), async (server) => {
      for (let ready = false; !ready; ) ready = (await fetch(`${server.origin}/readyz`)).ok;
      const call = { name: 'find_tool', arguments: { tool_description: 'umbrella' } };
      const { structuredContent } = await (await connect(server)).ask('tools/call', call);
      const { model, headers } = service.openai() ?? {};
      return {
        noted: structuredContent.note !== undefined,
        model,
        team: headers?.['x-team'],
        key: headers?.authorization,
      };
    });
  } finally {
    await service.close();
  }
}

const TOOLS = '/aggregation/tools/0';

function aggregated(more: Partial<VmcpConfig['aggregation']>): Pick<VmcpConfig, 'aggregation'> {
  return {
    aggregation: {
      conflictResolution: 'prefix',
      conflictResolutionConfig: { prefixFormat: '{workload}_' },
      excludeAllTools: false,
      ...more,
    },
  };
}

function toolRow(key: string, values: FieldRow['values'], override: Json = { name: 'said' }): FieldRow {
  const tools = [{ workload: 'one', excludeAll: false, overrides: { echo: override } }];
  const base = aggregated({ tools } as Partial<VmcpConfig['aggregation']>);
  const field = `/aggregation/tools/*/${key.replace('/echo/', '/*/')}`;
  return { field, at: `${TOOLS}/${key}`, values, base, see: seeTools };
}

const PRIORITY = { prefixFormat: '{workload}_', priorityOrder: ['one'] };
const CEDAR = { type: 'cedar', policies: ['permit(principal, action, resource == Tool::"one_echo");'] } as const;
const OPEN_ALL = 'permit(principal, action, resource) when { Switch::"all".open };';
const entities = (open: boolean) =>
  JSON.stringify([{ uid: { type: 'Switch', id: 'all' }, attrs: { open }, parents: [] }]);

/** An anonymous caller's name is a text. If a setting uses this claim for groups, the caller's groups are unknown. */
function groupRow(key: string, value: string, type: string, groups: GroupSettings = {}): FieldRow {
  const policies = [
    `forbid(principal in ${type}::"guests", action, resource);`,
    'permit(principal, action, resource);',
  ];
  return {
    field: `/incomingAuth/authz/${key}`,
    values: [value, undefined],
    base: { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies, ...groups } } },
    see: seeTools,
  };
}

const AUDIT: NonNullable<VmcpConfig['audit']> = {
  ...{ enabled: true, component: 'desk', includeRequestData: false, includeResponseData: false, maxDataSize: 0 },
};

const FULL_AUDIT = { ...AUDIT, includeRequestData: true, includeResponseData: true, maxDataSize: 1024 };

const OPTIMIZER: NonNullable<VmcpConfig['optimizer']> = {
  embeddingService: 'http://service',
  embeddingServiceTimeout: '5s',
  maxToolsToReturn: 8,
  hybridSearchSemanticRatio: '0.5',
  semanticDistanceThreshold: '2.0',
};
const optimized = (more: Partial<typeof OPTIMIZER> = {}) => ({ optimizer: { ...OPTIMIZER, ...more } });

const OPENAI = { embeddingService: 'http://service/v1', embeddingProvider: 'openai', embeddingModel: 'small' } as const;

export const CLIENT_ROWS: readonly FieldRow[] = [
  { field: '/name', values: ['one', 'two'], see: seeName },
  { field: '/backends/*/name', at: '/backends/0/name', values: ['one', 'else'], see: seeTools },
  { field: '/backends/*/url', at: '/backends/0/url', values: ['http://one', 'http://two'], see: seeTools },
  { field: '/backends/*/transport', at: '/backends/0/transport', values: ['streamable-http', 'sse'], see: seeTools },
  {
    // The lock contains no tools, so every tool is unknown.
    field: '/backends/*/toolsLock',
    at: '/backends/0/toolsLock',
    values: [
      { mode: 'enforce', tools: {} },
      { mode: 'report', tools: {} },
    ],
    see: seeTools,
  },
  { field: '/aggregation/conflictResolution', values: ['prefix', 'priority'], see: seeTools },
  { field: '/aggregation/conflictResolutionConfig/prefixFormat', values: ['{workload}_', 'x'], see: seeTools },
  {
    field: '/aggregation/conflictResolutionConfig/priorityOrder',
    values: [
      ['one', 'two'],
      ['two', 'one'],
    ],
    base: aggregated({ conflictResolution: 'priority', conflictResolutionConfig: PRIORITY }),
    see: seeTools,
  },
  { field: '/aggregation/excludeAllTools', values: [true, false], see: seeTools },
  {
    field: '/aggregation/defaultToolVisibility',
    values: ['deny', undefined],
    base: aggregated({ tools: [{ workload: 'two', excludeAll: false }] }),
    see: seeTools,
  },
  toolRow('workload', ['one', 'two']),
  toolRow('filter', [['said'], ['read']]),
  toolRow('excludeAll', [true, false]),
  toolRow('overrides/echo/name', ['said', 'told']),
  toolRow('overrides/echo/description', ['This.', 'That.']),
  toolRow('overrides/echo/annotations/title', ['This', 'That'], { annotations: {} }),
  toolRow('overrides/echo/annotations/readOnlyHint', [true, false], { annotations: {} }),
  toolRow('overrides/echo/annotations/destructiveHint', [true, false], { annotations: {} }),
  toolRow('overrides/echo/annotations/idempotentHint', [true, false], { annotations: {} }),
  toolRow('overrides/echo/annotations/openWorldHint', [true, false], { annotations: {} }),
  {
    field: '/incomingAuth/authz/type',
    values: ['cedar', 'none'],
    base: { incomingAuth: { type: 'anonymous', authz: { ...CEDAR, policies: [...CEDAR.policies] } } },
    see: seeTools,
  },
  {
    field: '/incomingAuth/authz/policies',
    values: [[...CEDAR.policies], ['permit(principal, action, resource);']],
    base: { incomingAuth: { type: 'anonymous', authz: { type: 'cedar' } } },
    see: seeTools,
  },
  {
    field: '/incomingAuth/authz/entitiesJson',
    values: [entities(true), entities(false)],
    base: { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies: [OPEN_ALL] } } },
    see: seeTools,
  },
  groupRow('groupClaimName', 'name', 'THVGroup'),
  groupRow('roleClaimName', 'name', 'THVGroup'),
  groupRow('groupEntityType', 'Team', 'Team', { groupClaimName: 'name' }),
  { field: '/operational/logLevel', values: ['debug', undefined], see: seeLog },
  { field: '/audit/eventTypes', values: [['mcp_tools_list'], undefined], base: { audit: AUDIT }, see: seeAudit },
  { field: '/audit/excludeEventTypes', values: [['mcp_tools_list'], undefined], base: { audit: AUDIT }, see: seeAudit },
  { field: '/audit/logFile', values: ['audit.log', undefined], base: { audit: AUDIT }, see: seeAuditFile },
  {
    field: '/auditFailure',
    values: ['refuse', 'continue'],
    base: { audit: { ...AUDIT, logFile: '/dev/full' } },
    see: seeUnaudited,
  },
  { field: '/audit/includeRequestData', values: [true, false], base: { audit: FULL_AUDIT }, see: seeAuditData },
  { field: '/audit/includeResponseData', values: [true, false], base: { audit: FULL_AUDIT }, see: seeAuditData },
  { field: '/audit/detectApplicationErrors', values: [false, undefined], base: { audit: AUDIT }, see: seeOutcome },
  { field: '/audit/maxDataSize', values: [200, 10], base: { audit: FULL_AUDIT }, see: seeAuditData },
  {
    field: '/optimizer/embeddingService',
    values: ['http://service', undefined],
    base: optimized(),
    see: seeFound('umbrella'),
  },
  { field: '/optimizer/embeddingModel', values: ['small', 'large'], base: optimized(OPENAI), see: seeOpenAi },
  {
    field: '/optimizer/embeddingHeaders',
    values: [{ 'X-Team': 'office' }, undefined],
    base: optimized(OPENAI),
    see: seeOpenAi,
  },
  {
    field: '/optimizer/embeddingServiceTimeout',
    values: ['100ms', '300ms'],
    base: optimized(),
    see: seeFound('echo', 'hang'),
  },
  { field: '/optimizer/maxToolsToReturn', values: [1, 2], base: optimized(), see: seeFound('echo') },
  {
    field: '/optimizer/hybridSearchSemanticRatio',
    values: ['0.0', '1.0'],
    base: optimized(),
    see: seeFound('umbrella'),
  },
  {
    field: '/optimizer/semanticDistanceThreshold',
    values: ['0.1', '2.0'],
    base: optimized(),
    see: seeFound('umbrella'),
  },
];
