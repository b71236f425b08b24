import { describe, expect, it } from 'vitest';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { KINDS } from '../../kinds/index.ts';
import { load } from '../read/load.ts';
import { collisions } from './collisions.ts';

const SPECS: Readonly<Record<string, string>> = {
  MCPServer: '{image: example.com/weather:1, transport: sse}',
  MCPServerStdio: '{image: example.com/weather:1}',
  MCPRemoteProxy: '{remoteURL: "https://mcp.example.com", oidcConfig: {type: kubernetes}}',
  EmbeddingServer: '{}',
  MCPGroup: '{}',
};

/** Returns loaded resources. `names` are `Kind/name`; all are in one namespace. */
function loaded(names: readonly string[]) {
  const text = names
    .map((id) => {
      const [kind = '', name] = id.split('/');
      const apiVersion = kind in SPECS ? 'toolhive.stacklok.dev/v1alpha1' : 'v1';
      const body = kind in SPECS ? `spec: ${SPECS[kind]}` : 'data: {}';
      return `apiVersion: ${apiVersion}\nkind: ${kind.replace('Stdio', '')}\nmetadata: {name: ${name}, namespace: a}\n${body}\n`;
    })
    .join('---\n');
  const documents = [{ path: 'fleet.yaml', oid: text, text }];
  return load({ source: 'fleet', documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev', builtin: bundledSchema });
}

interface Living {
  readonly born?: string;
  /** Owner as `Kind/name`. */
  readonly owner?: string;
}

function found(names: readonly string[], living: Readonly<Record<string, Living>> = {}): string[] {
  const { resources, problems } = loaded(names);
  expect(problems).toEqual([]);
  const seen = (id: ResourceId) => {
    const live = living[`${id.kind}/${id.name}`];
    if (live === undefined) return undefined;
    const [kind = '', name = ''] = live.owner?.split('/') ?? [];
    const ownerReferences =
      live.owner === undefined ? [] : [{ apiVersion: 'v1', kind, name, uid: '1', controller: true }];
    const metadata = { name: id.name, ownerReferences, creationTimestamp: live.born ?? '2026-11-21T00:00:00Z' };
    return { apiVersion: id.apiVersion, kind: id.kind, metadata };
  };
  const findings = collisions({ loaded: resources, living: seen });
  return resources.flatMap(({ id }) => {
    const key = [...findings].find(([each]) => each.endsWith(`/${id.kind}/a/${id.name}`));
    return (key?.[1] ?? []).map(({ message }) => `${formatId(id)} ${message}`);
  });
}

describe('resources that would create the same object', () => {
  it('do not collide if their names differ', () => {
    expect(found(['MCPServer/weather', 'MCPRemoteProxy/almanac', 'EmbeddingServer/vectors'])).toEqual([]);
  });

  it('are refused except for the first resource, which the finding names', () => {
    expect(found(['MCPServer/weather', 'MCPRemoteProxy/weather', 'MCPGroup/weather'])).toEqual([
      'a/MCPRemoteProxy/weather would create ConfigMap weather-runconfig, Deployment weather, which a/MCPServer/weather creates too: rename one of the two',
    ]);
  });

  it('may have different names', () => {
    expect(found(['MCPServer/weather', 'MCPServer/weather-proxy'])).toEqual([
      'a/MCPServer/weather-proxy would create Service mcp-weather-proxy, which a/MCPServer/weather creates too: rename one of the two',
    ]);
    expect(found(['MCPServer/weather', 'MCPServerStdio/weather-proxy'])).toEqual([]);
  });

  it('are refused if Git declares the object', () => {
    expect(found(['MCPServer/weather', 'ConfigMap/weather-runconfig'])).toEqual([
      'a/MCPServer/weather would create ConfigMap weather-runconfig, which is declared by itself: rename one of the two',
    ]);
  });

  it('are refused except for the oldest resource, wherever it is declared', () => {
    const living = { 'MCPRemoteProxy/weather': { born: '2026-11-20T00:00:00Z' } };
    expect(found(['MCPServer/weather', 'MCPRemoteProxy/weather'], living)).toEqual([
      'a/MCPServer/weather would create ConfigMap weather-runconfig, Deployment weather, which a/MCPRemoteProxy/weather creates too: rename one of the two',
    ]);
  });

  it('are refused except for the owner of the live object, however old the others are', () => {
    const living = {
      'MCPServer/weather': { born: '2026-11-20T00:00:00Z' },
      'MCPRemoteProxy/weather': { born: '2026-11-21T00:00:00Z' },
      'Deployment/weather': { owner: 'MCPRemoteProxy/weather' },
      'ConfigMap/weather-runconfig': { owner: 'MCPRemoteProxy/weather' },
    };
    expect(found(['MCPServer/weather', 'MCPRemoteProxy/weather'], living)).toEqual([
      'a/MCPServer/weather would create ConfigMap weather-runconfig, Deployment weather, which a/MCPRemoteProxy/weather creates too: rename one of the two',
    ]);
  });
});
