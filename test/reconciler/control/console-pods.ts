// What the pods of two resources of the small fleet say about themselves: calls, logs, and the parts of a virtual server.

import type { ShownEvent } from '#reconciler/run/fleet-state/detail-format.ts';
import type { ShownOffer } from '#reconciler/run/fleet-state/offer-format.ts';

const EVIL = '<img src=x onerror="alert(1)">';

export const WIKI_EVENTS: readonly ShownEvent[] = [
  {
    object: 'Pod/wiki-6d9c-w7p',
    type: 'Warning',
    reason: 'Failed',
    note: `Failed to pull image: ${EVIL}`,
    count: 7,
    at: new Date(Date.now() - 40_000).toISOString(),
  },
  {
    object: 'Deployment/wiki',
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    note: 'Scaled up replica set wiki-6d9c to 3',
    count: 1,
    at: new Date(Date.now() - 300_000).toISOString(),
  },
];

export const WIKI_OFFER: ShownOffer = {
  url: 'http://mcp-wiki-proxy.docs.svc.cluster.local:8080/mcp',
  transport: 'streamable-http',
  access: { type: 'oidc', issuer: 'https://id.example.com', audience: 'wiki' },
  tools: [{ name: 'search_pages' }, { name: 'read_page' }, { name: 'write_page' }, { name: EVIL }],
  unlisted: [],
  clashes: [],
  optimizer: false,
  policies: [
    'permit(principal, action == Action::"list_tools", resource);',
    'permit(principal in THVGroup::"editors", action == Action::"call_tool", resource == Tool::"write_page");',
    'permit(principal, action == Action::"call_tool", resource) when { resource.readOnlyHint == true };',
  ],
};

const DESK_OFFER: ShownOffer = {
  url: 'http://vmcp-desk.docs.svc.cluster.local:4483/mcp',
  transport: 'streamable-http',
  access: { type: 'anonymous' },
  tools: [
    { name: 'wiki_search_pages', member: 'wiki', own: 'search_pages' },
    { name: 'wiki_read_page', member: 'wiki', own: 'read_page' },
    { name: 'look_up' },
  ],
  unlisted: ['handbook'],
  clashes: [],
  optimizer: false,
};

export const WIKI_READINGS = {
  version: 1,
  resource: 'docs/MCPServer/wiki',
  pods: [{ pod: 'wiki-6d9c-w7p', why: 'https://10.0.0.1: the pod does not listen' }],
  traffic: {
    ...{ seconds: 540, sinceStart: false, pods: 2, open: 14 },
    calls: { total: 48_210, perMinute: 92.4 },
    errors: { total: 310, perMinute: 1.2 },
    tools: [
      { name: 'search_pages', total: 30_400, perMinute: 61, errors: 12, meanMs: 84 },
      { name: 'read_page', total: 9100, perMinute: 20.2, errors: 298, meanMs: 31 },
      { name: 'write_page', total: 120, perMinute: 0.2, errors: 0, meanMs: 140 },
    ],
    errorTypes: [
      { type: 'tool_error', total: 290, perMinute: 1.1 },
      { type: '-32602', total: 20, perMinute: 0.1 },
    ],
    refusals: [{ reason: 'policy-denied', total: 44, perMinute: 0.4 }],
  },
};

export const WIKI_LOGS = {
  version: 1,
  resource: 'docs/MCPServer/wiki',
  logs: [
    {
      pod: 'wiki-6d9c-9qz',
      container: 'proxy',
      previous: true,
      lines: ['{"level":"info","msg":"proxy serves"}', `request of ${EVIL}`, 'authorization: Bearer ***'],
    },
    {
      pod: 'wiki-6d9c-w7p',
      container: 'proxy',
      previous: false,
      lines: [],
      unread: 'https://10.0.0.1: container "proxy" in pod "wiki-6d9c-w7p" is waiting to start: ImagePullBackOff',
    },
  ],
  omitted: 2,
};

export function deskDetail(): object {
  const object = (id: string, more: object = {}) => ({
    ...{ id: `docs/${id}`, state: 'ready', why: '', differences: [], fields: [] },
    ...more,
  });
  const pod = {
    name: 'desk-7f4c-1ab',
    ready: true,
    phase: 'Running',
    restarts: 1,
    lastEnd: 'OOMKilled, exit code 137',
    why: '',
  };
  return {
    version: 1,
    resource: 'docs/VirtualMCPServer/desk',
    apiVersion: 'toolhive.stacklok.dev/v1beta1',
    source: 'fleet',
    file: 'docs/desk.yaml',
    line: 1,
    manifest: 'apiVersion: toolhive.stacklok.dev/v1beta1\nkind: VirtualMCPServer\nmetadata:\n  name: desk\n',
    problems: [],
    changes: [],
    conditions: [],
    objects: [object('VirtualMCPServer/desk'), object('Deployment/desk', { pods: [pod] }), object('Service/vmcp-desk')],
    omitted: 0,
    events: [],
    eventsUnread: 'https://10.0.0.1: events is forbidden',
    offer: DESK_OFFER,
  };
}

const at = () => new Date(Date.now() - 12_000).toISOString();

export const DESK_READINGS = {
  version: 1,
  resource: 'docs/VirtualMCPServer/desk',
  pods: [],
  traffic: {
    ...{ seconds: 7200, sinceStart: true, pods: 1, open: 3 },
    calls: { total: 960, perMinute: 8 },
    errors: { total: 0, perMinute: 0 },
    tools: [],
    errorTypes: [],
    refusals: [],
  },
  virtualServer: {
    name: 'desk',
    conflict_resolution: 'priority',
    backends: [
      {
        ...{
          name: 'wiki',
          url: 'http://mcp-wiki-proxy.docs.svc:8080',
          status: 'healthy',
          transport: 'streamable-http',
        },
        ...{ auth_type: 'token_exchange', consecutive_failures: 0, last_check: at(), metadata: { area: 'docs' } },
      },
      {
        ...{ name: 'handbook', url: 'http://mcp-handbook-proxy.docs.svc:8080', status: 'unhealthy', transport: 'sse' },
        ...{ auth_type: 'unauthenticated', consecutive_failures: 4, last_check: at(), message: 'connection refused' },
      },
    ],
    offered: [
      { list: 'tools', name: 'wiki_search_pages', backend: 'wiki', own: 'search_pages', advertised: true },
      { list: 'tools', name: 'wiki_read_page', backend: 'wiki', own: 'read_page', advertised: true },
      { list: 'tools', name: 'wiki_write_page', backend: 'wiki', own: 'write_page', advertised: false },
      { list: 'prompts', name: 'summarize', backend: 'wiki', own: 'summarize', advertised: true },
      { list: 'tools', name: 'look_up', advertised: true },
    ],
    conflicts: [
      {
        list: 'tools',
        name: 'search',
        given_to: { backend: 'wiki', own: 'search' },
        others: [{ backend: 'handbook', own: 'search' }],
      },
    ],
    workflows: [
      {
        name: 'look_up',
        description: EVIL,
        shown: true,
        steps: [
          { id: 'find', type: 'tool', tool: 'wiki.search_pages', missing: false, depends_on: [], conditional: false },
          { id: 'ask', type: 'elicitation', depends_on: ['find'], conditional: true },
          {
            id: 'read',
            type: 'forEach',
            tool: 'wiki.read_page',
            missing: false,
            depends_on: ['find'],
            conditional: false,
          },
          {
            id: 'note',
            type: 'tool',
            tool: 'wiki.gone',
            missing: true,
            depends_on: ['ask', 'read'],
            conditional: false,
          },
        ],
      },
    ],
    runs: [
      {
        ...{ run: 'r1', workflow: 'look_up', ended: at(), duration_ms: 812, result: 'completed' },
        steps: [
          { id: 'find', result: 'completed', duration_ms: 400, retries: 0 },
          { id: 'ask', result: 'skipped', duration_ms: 0, retries: 0 },
          { id: 'read', result: 'completed', duration_ms: 300, retries: 2 },
        ],
      },
    ],
  },
};
