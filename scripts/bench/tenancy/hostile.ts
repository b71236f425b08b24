// The ways in which one source, or what stands behind it, may keep a reconciler from its work.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestCluster } from '../../../test/harness/cluster.ts';
import { costlyRules, costlyText } from '../../../test/harness/costly.ts';
import type { TestRepository } from '../../../test/harness/git-server.ts';

/** What belongs to the source. */
export interface Stage {
  readonly cluster: TestCluster;
  /** The source's repository. */
  readonly team: TestRepository;
  /** Of the source alone. */
  readonly namespace: string;
  /** Answers in place of the source's Git server where it returns true. */
  meet(request: (request: IncomingMessage, response: ServerResponse) => boolean): void;
  /** Called in the end, the last one first. */
  readonly closing: (() => void)[];
}

export interface Hostile {
  readonly name: string;
  /** What the source declares before. */
  readonly declares?: (stage: Stage) => string;
  begin(stage: Stage): void | Promise<void>;
}

export const HOSTILE: readonly Hostile[] = [
  { name: '2 MB of CEL', begin: ({ team }) => commit(team, costlyRules()) },
  { name: 'a YAML file of 4 MB, 700 MB as values', begin: ({ team }) => commit(team, costlyText()) },
  {
    name: 'a silent Git server',
    begin({ meet, team, namespace }) {
      meet(() => true);
      commit(team, configMap(namespace, 'never-read'));
    },
  },
  {
    name: 'a Git server that drips',
    begin({ meet, team, namespace, closing }) {
      meet((_request, response) => drip(response, closing));
      commit(team, configMap(namespace, 'never-read'));
    },
  },
  {
    name: 'a silent registry API',
    async begin({ team, namespace, closing }) {
      const api = createServer(() => undefined);
      await new Promise<void>((listening) => api.listen(0, '127.0.0.1', () => listening()));
      closing.push(() => {
        api.closeAllConnections();
        api.close();
      });
      commit(team, registry(namespace, `http://127.0.0.1:${(api.address() as AddressInfo).port}`));
    },
  },
  {
    name: 'a hanging LIST',
    declares: ({ namespace }) => server(namespace),
    begin({ cluster, closing }) {
      const { faults } = cluster.cluster;
      faults.add({ match: { verb: 'list', resource: 'apps/statefulsets' }, action: { delayMs: 30_000 } });
      closing.push(() => faults.clear());
    },
  },
];

function commit(team: TestRepository, text: string): void {
  team.commit({ 'cluster/hostile.yaml': text });
}

/** A byte at a time, for ever. */
function drip(response: ServerResponse, closing: Stage['closing']): boolean {
  response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
  const dripping = setInterval(() => response.write('0'), 100);
  response.once('close', () => clearInterval(dripping));
  closing.push(() => response.destroy());
  return true;
}

export function configMap(namespace: string, name: string, value = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {value: "${value}"}\n`;
}

function server(namespace: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: one, namespace: ${namespace}}
spec: {image: 'images.example.com/one:1.0.0', transport: stdio}
`;
}

function registry(namespace: string, endpoint: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: ${namespace}}
spec:
  registries:
    - {name: upstream, format: upstream, api: {endpoint: '${endpoint}'}, syncPolicy: {interval: 1h}}
`;
}
