// What a reviewer reads about a change: each story edits one fleet, and says what clients would notice.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { textOfImpact } from '#reconciler/report/impact.ts';
import { impactOf } from '#reconciler/run/impact/impact.ts';
import { load } from '#reconciler/run/read/load.ts';
import type { JsonObject } from '#std/json.ts';
import { INSTALLED } from '#std/words/command-of.ts';

const API_GROUP = 'toolhive.stacklok.dev';
const FLEET = readFileSync(join(import.meta.dirname, 'fleet.yaml'), 'utf8');

type Edit = readonly [from: string, to: string];

function objectsOf(text: string) {
  const documents = [{ path: 'fleet.yaml', oid: text, text }];
  const { resources, problems } = load({
    source: 'fleet',
    documents,
    kinds: KINDS,
    apiGroup: API_GROUP,
    builtin: bundledSchema,
  });
  expect(problems).toEqual([]);
  return resources.map(({ defaulted, object }) => defaulted ?? object);
}

function edited(edits: readonly Edit[]): string {
  return edits.reduce((text, [from, to]) => {
    expect(text, `the fleet has ${from}`).toContain(from);
    return text.replace(from, to);
  }, FLEET);
}

function reported(...edits: readonly Edit[]): string[] {
  return between(objectsOf(FLEET), objectsOf(edited(edits)));
}

function between(before: readonly KubeObject[], after: readonly KubeObject[]): string[] {
  return [
    ...textOfImpact(impactOf({ kinds: KINDS, apiGroup: API_GROUP, before, after, changes: [] }), {
      extent: 'folded',
      commandOf: INSTALLED,
    }),
  ];
}

test('nothing is told of a change that clients do not notice', () => {
  expect(reported(['What the help desk uses.', 'The help desk.'])).toEqual([]);
});

describe('tools', () => {
  test('a filter is narrowed', () => {
    expect(reported(['[search, open_ticket, close]', '[search, open_ticket]'])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/tickets',
      '      removed tools: close',
      '  ~ docs/VirtualMCPServer/desk',
      '      removed tools: tickets_close',
    ]);
  });

  test('an override gives another name', () => {
    expect(
      reported(['{name: open_ticket}', '{name: new_ticket}'], ['open_ticket, close', 'new_ticket, close']),
    ).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/tickets',
      '      tool open_ticket is called new_ticket now',
      '  ~ docs/VirtualMCPServer/desk',
      '      tool tickets_open_ticket is called tickets_new_ticket now',
    ]);
  });

  test('a member leaves the group', () => {
    expect(
      reported([
        'transport: streamable-http\n  groupRef: desk\n  toolConfigRef',
        'transport: streamable-http\n  toolConfigRef',
      ]),
    ).toEqual([
      'what clients notice:',
      '  ~ docs/VirtualMCPServer/desk',
      '      removed tools: tickets_close, tickets_open_ticket, tickets_search',
    ]);
  });

  test('names are told apart in another way: every one of them changes, and one is lost', () => {
    const priority = '{conflictResolution: priority, conflictResolutionConfig: {priorityOrder: [wiki, tickets]}}';
    expect(reported(['{conflictResolution: prefix}', priority])).toEqual([
      'what clients notice:',
      '  ~ docs/VirtualMCPServer/desk',
      '      removed tools: tickets_search',
      '      tool wiki_search is called search now',
      '      tool wiki_read_page is called read_page now',
      '      tool wiki_edit_page is called edit_page now',
      '      tool tickets_open_ticket is called open_ticket now',
      '      tool tickets_close is called close now',
    ]);
  });

  test('equal names that nobody tells apart', () => {
    const lines = reported(['{conflictResolution: prefix}', '{conflictResolution: manual}']);
    expect(lines).toContain('      names of several members, without a rule that distinguishes them: search');
  });

  test('an image with another list of tools', () => {
    expect(reported(['wiki:1.0.0\n  transport', 'wiki:2.0.0\n  transport'])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      removed tools: edit_page',
      '      new tools: write_page',
      '  ~ docs/VirtualMCPServer/desk',
      '      removed tools: wiki_edit_page',
      '      new tools: wiki_write_page',
    ]);
  });

  test('an image that no registry lists', () => {
    expect(reported(['wiki:1.0.0\n  transport', 'wiki:3.0.0\n  transport'])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      its tools may differ: a server has changed, and no registry in a ConfigMap lists its tools',
      '  ~ docs/VirtualMCPServer/desk',
      '      its tools may differ: a server has changed, and no registry in a ConfigMap lists its tools',
    ]);
  });

  test('a member joins of which no registry lists the tools', () => {
    const joins =
      'name: chat, namespace: docs}\nspec: {image: images.example.com/mcp/chat:1, groupRef: desk}\n---\napiVersion: toolhive.stacklok.dev/v1alpha1\nkind: MCPServer\nmetadata: {name: wiki';
    expect(reported(['name: wiki', joins])).toContain('      new tools: chat_*');
  });

  test('a workflow is offered, and an optimizer stands in front of all', () => {
    const workflow = `
    optimizer: {embeddingService: "http://embeddings.docs.svc:8080"}
    compositeTools:
      - name: triage
        description: Finds what a ticket is about.
        steps: [{id: find, type: tool, tool: wiki.search, arguments: {query: help}}]`;
    expect(reported(['{conflictResolution: prefix}', `{conflictResolution: prefix}${workflow}`])).toEqual([
      'what clients notice:',
      '  ~ docs/VirtualMCPServer/desk',
      '      clients see find_tool and call_tool only, and find the other tools by them',
      '      new tools: triage',
    ]);
  });
});

describe('tokens, URLs and transports', () => {
  test('another audience', () => {
    expect(reported(['audience: wiki}', 'audience: pages}'])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      the tokens of today are refused: they must be issued for audience pages, no longer for wiki',
    ]);
  });

  test('any audience', () => {
    expect(reported([', audience: wiki}', '}'])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      tokens of https://login.example.com for any audience are accepted',
    ]);
  });

  test('another issuer', () => {
    expect(reported(['login.example.com', 'id.example.com'])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      the tokens of today are refused: the issuer is https://id.example.com, no longer https://login.example.com',
    ]);
  });

  const ofCluster = (more = '') => `type: kubernetes\n    kubernetes: {audience: wiki${more}}`;
  const inline = 'type: inline\n    inline: {issuer: "https://login.example.com", audience: wiki}';

  test('one service account, and every account again', () => {
    const one: Edit = [inline, ofCluster(', serviceAccount: caller')];
    expect(between(objectsOf(edited([[inline, ofCluster()]])), objectsOf(edited([one])))).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      the tokens of today are refused: they must be of service account docs/caller, no longer of every account',
    ]);
    expect(between(objectsOf(edited([one])), objectsOf(edited([[inline, ofCluster()]])))).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      tokens of every service account of https://kubernetes.default.svc are accepted',
    ]);
  });

  test('a server that was open asks for tokens', () => {
    const oidc =
      '{type: oidc, oidcConfig: {type: inline, inline: {issuer: "https://login.example.com", audience: desk}}}';
    expect(reported(['{type: anonymous}', oidc])).toEqual([
      'what clients notice:',
      '  ~ docs/VirtualMCPServer/desk',
      '      callers without a token of https://login.example.com are refused from now on',
    ]);
  });

  test('another port and another transport', () => {
    expect(
      reported([
        'transport: streamable-http\n  groupRef: desk\n  oidcConfig',
        'transport: sse\n  proxyPort: 9000\n  groupRef: desk\n  oidcConfig',
      ]),
    ).toEqual([
      'what clients notice:',
      '  ~ docs/MCPServer/wiki',
      '      moves from http://mcp-wiki-proxy.docs.svc.cluster.local:8080/mcp to http://mcp-wiki-proxy.docs.svc.cluster.local:9000/sse#wiki: clients must be changed',
      '      speaks sse instead of streamable-http',
    ]);
  });
});

describe('endpoints and registries', () => {
  test('a server of another name', () => {
    expect(
      reported([
        'metadata: {name: tickets, namespace: docs}\nspec:\n  image',
        'metadata: {name: issues, namespace: docs}\nspec:\n  image',
      ]),
    ).toEqual([
      'what clients notice:',
      '  + docs/MCPServer/issues',
      '      is reached at http://mcp-issues-proxy.docs.svc.cluster.local:8080/mcp',
      '      new tools: close, open_ticket, search',
      '  - docs/MCPServer/tickets',
      '      is no longer at http://mcp-tickets-proxy.docs.svc.cluster.local:8080/mcp',
      '      removed tools: close, open_ticket, search',
      '  ~ docs/VirtualMCPServer/desk',
      '      removed tools: tickets_close, tickets_open_ticket, tickets_search',
      '      new tools: issues_close, issues_open_ticket, issues_search',
    ]);
  });

  test('the filter of a registry is narrowed', () => {
    const filter = 'configMapRef: {name: catalogue, key: registry.json}\n      filter: {tags: {exclude: [work]}}';
    expect(reported(['configMapRef: {name: catalogue, key: registry.json}', filter])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPRegistry/catalogue/all',
      '      removed servers: io.github.stacklok/tickets',
    ]);
  });

  test('a server is listed under another name', () => {
    expect(reported(['"wiki-next": {', '"wiki-two": {'])).toEqual([
      'what clients notice:',
      '  ~ docs/MCPRegistry/catalogue/all',
      '      server io.github.stacklok/wiki-next is called io.github.stacklok/wiki-two now',
    ]);
  });

  test('a registry whose entries are somewhere else', () => {
    const git = 'git: {repository: "https://git.example.com/registry.git", path: registry.json}';
    expect(reported(['configMapRef: {name: catalogue, key: registry.json}', git])).toContain(
      '      its source changes; its servers are known when it is synced',
    );
  });
});

test('a registry that goes takes what is known with it, and changes no server', () => {
  const all = objectsOf(FLEET);
  const left = all.filter(({ kind }) => kind !== 'MCPRegistry');
  const lines = between(all, left);
  expect(lines.filter((line) => line.includes('MCPServer'))).toEqual([]);
  expect(lines.join('\n')).not.toContain('its tools may differ');
  expect(lines[1]).toMatch(/^ {2}- docs\/MCPRegistry\//);
  expect(between(left, all)[1]).toMatch(/^ {2}\+ docs\/MCPRegistry\//);
});

test('a resource that lives and that our definitions do not know is passed over', () => {
  const odd = { apiVersion: `${API_GROUP}/v1alpha1`, metadata: { name: 'odd', namespace: 'docs' } };
  const specs = [{}, { incomingAuth: 5, groupRef: [] }, { image: {}, registries: 'x' }];
  const living = KINDS.flatMap(({ kind }) => specs.map((spec) => ({ ...odd, kind, spec })));
  const all = objectsOf(FLEET);
  expect(between([...living, ...all], all)).toEqual([]);
});

/** A registry in a ConfigMap, and a server. */
function listed(servers: Readonly<Record<string, readonly string[]>>): readonly KubeObject[] {
  const entries = Object.entries(servers).map(([name, tools], index) => [
    name,
    {
      image: `img:${index}`,
      description: 'What it is for.',
      transport: 'stdio',
      tier: 'Community',
      status: 'Active',
      tools,
    },
  ]);
  const file = { version: '1', last_updated: '2026-01-01T00:00:00Z', servers: Object.fromEntries(entries) };
  const ours = (kind: string, name: string, spec: JsonObject) => ({
    apiVersion: `${API_GROUP}/v1alpha1`,
    kind,
    metadata: { name, namespace: 'docs' },
    spec,
  });
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'docs' },
      data: { 'registry.json': JSON.stringify(file) },
    },
    ours('MCPRegistry', 'r', {
      registries: [{ name: 'all', format: 'toolhive', configMapRef: { name: 'c', key: 'registry.json' } }],
    }),
    ours('MCPServer', 's', { image: 'img:0', transport: 'stdio' }),
  ];
}

test('tools that are called like what is unknown hide no others', () => {
  const before = listed({ s: ['search', 'close', 'repo/list'] });
  const lines = between(before, listed({ s: ['search', '*', 're*', 'repo/*'] }));
  expect(lines).toContain('      removed tools: close, repo/list');
  expect(lines.join('\n')).not.toContain('its tools may differ');
});

test('thousands of servers that are renamed, and tools that are replaced, take no longer than they are many', () => {
  const start = process.cpuUsage();
  const names = (prefix: string) => Array.from({ length: 4000 }, (_none, index) => `${prefix}${index}`);
  const servers = (prefix: string) => listed(Object.fromEntries(names(prefix).map((name) => [name, ['a']])));
  const renamed = between(servers('old-'), servers('new-')).filter((line) => line.includes('is called'));
  expect(renamed).toHaveLength(4000);
  const [, , line = ''] = between(listed({ s: names('a') }), listed({ s: names('b') }));
  expect(line.split(', ')).toHaveLength(4000);
  // Each against each is minutes; processor time is not what other programs take.
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(15_000);
});
