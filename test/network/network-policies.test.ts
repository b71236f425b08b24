// manifests/network over the pods that fixtures become: servers are reached by proxies alone, proxies at the ports that they
// have.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { selects } from '#kubernetes/rules/label-selector.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { type PodOfFixture, podsOf } from '../reconciler/kinds/pods.ts';

const FOLDER = fileURLToPath(new URL('../../manifests/network', import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: what others read is looked at piece by piece
function policy(file: string): any {
  return parse(readFileSync(join(FOLDER, file), 'utf8')).spec;
}

const servers = policy('servers.yaml');
const proxies = policy('proxies.yaml');

function pods(kind: string, workload: string): readonly PodOfFixture[] {
  return KINDS.filter((each) => each.kind === kind)
    .flatMap((each) => podsOf(each))
    .filter(({ name }) => name.endsWith(`: ${workload}`));
}

function labelsOf({ metadata }: PodOfFixture): JsonObject {
  return isObject(metadata.labels) ? metadata.labels : {};
}

function objects(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function portsOf({ spec }: PodOfFixture): readonly Json[] {
  return objects(spec.containers).flatMap(({ ports }) => objects(ports).map(({ name }) => name ?? null));
}

const ofServers = pods('MCPServer', 'StatefulSet');
const ofProxies = ['MCPServer', 'MCPRemoteProxy', 'VirtualMCPServer'].map((kind) => ({
  kind,
  pods: pods(kind, 'Deployment'),
}));

describe('the pods of MCP servers', () => {
  it.each(ofServers)('$name is asked by proxies only', (pod) => {
    expect(selects(servers.podSelector, labelsOf(pod))).toBe(true);
    expect(selects(proxies.podSelector, labelsOf(pod))).toBe(false);
    expect(selects(servers.ingress[0].from[0].podSelector, labelsOf(pod))).toBe(false);
  });

  it('are asked by the proxy of each', () => {
    const own = pods('MCPServer', 'Deployment');
    expect(own.length).toBeGreaterThan(0);
    for (const pod of own) expect(selects(servers.ingress[0].from[0].podSelector, labelsOf(pod))).toBe(true);
  });
});

describe.each(ofProxies)('the pods before clients, of $kind,', ({ pods }) => {
  it.each(pods)('$name has no port that nobody may ask', (pod) => {
    expect(selects(proxies.podSelector, labelsOf(pod))).toBe(true);
    expect(selects(servers.podSelector, labelsOf(pod))).toBe(false);
    const open = proxies.ingress[0].ports.map(({ port }: { port: string }) => port);
    expect(portsOf(pod).filter((name) => !open.includes(name))).toEqual([]);
    expect(portsOf(pod)).toContain('http');
  });
});
