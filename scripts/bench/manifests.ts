// Made-up manifests of MCPServers, and a made-up registry: the same every time.

import { readFileSync } from 'node:fs';
import type { JsonObject } from '#std/json.ts';

export const API_GROUP = 'toolhive.stacklok.dev';
const PER_TEAM = 100;

export interface Manifest {
  readonly path: string;
  readonly content: string;
}

/** So many servers below `cluster/`, a hundred a folder, which is a group; and the namespace of all, last. */
export function fleetOf(servers: number, namespace = 'fleet'): Manifest[] {
  return [
    ...Array.from({ length: servers }, (_, number) => serverOf(number, namespace)),
    ...Array.from({ length: Math.ceil(servers / PER_TEAM) }, (_, team) => groupOf(team, namespace)),
    { path: 'cluster/namespace.yaml', content: `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${namespace}\n` },
  ];
}

function groupOf(team: number, namespace: string): Manifest {
  const content = `apiVersion: ${API_GROUP}/v1alpha1
kind: MCPGroup
metadata:
  name: team-${team}
  namespace: ${namespace}
spec:
  description: Servers of team ${team}.
`;
  return { path: `cluster/team-${team}/group.yaml`, content };
}

function serverOf(number: number, namespace: string): Manifest {
  const team = Math.floor(number / PER_TEAM);
  const transport = ['stdio', 'sse', 'streamable-http'][number % 3];
  const port = transport === 'stdio' ? '' : `  mcpPort: ${3000 + (number % 50)}\n`;
  const content = `# Server ${number} of the fleet.
apiVersion: ${API_GROUP}/v1alpha1
kind: MCPServer
metadata:
  name: server-${number}
  namespace: ${namespace}
  labels:
    example.com/team: team-${team}
spec:
  image: images.example.com/mcp/server-${number}:1.${number % 10}.0
  transport: ${transport}
  groupRef: team-${team}
${port}  args: [--transport, ${transport}, --host, 0.0.0.0]
  env:
    - name: ENDPOINT_URL
      value: https://service-${number}.example.com
    - name: LOG_LEVEL
      value: "${number % 5}"
  resources:
    limits:
      cpu: 500m
      memory: 256Mi
    requests:
      cpu: 50m
      memory: 128Mi
`;
  return { path: `cluster/team-${team}/server-${number}.yaml`, content };
}

/** The sample registry with each of its servers under many names, in the platform's format. */
export function registryOf(entries: number): JsonObject {
  const sample = JSON.parse(readFileSync(new URL('../../manifests/fleet/registry.json', import.meta.url), 'utf8'));
  const originals = Object.entries(sample.servers as Record<string, JsonObject>);
  const servers = Array.from({ length: entries }, (_, number) => {
    const [key, server] = originals[number % originals.length] ?? ['', {}];
    return [`${key}-${number}`, { ...server, image: `${server.image}-${number}` }];
  });
  return { version: '1.0.0', servers: Object.fromEntries(servers) };
}
