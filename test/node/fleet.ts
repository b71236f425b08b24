// Syncs manifests from a Git repository to the node, with the reconciler of this checkout.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'vitest';
import { skep } from '../harness/skep.ts';
import { IMAGES } from './images.ts';
import { FOLDER, KUBECONFIG, kubectl } from './place.ts';

export interface Fleet {
  readonly namespace: string;
  /** Commits and syncs the manifests. Fails the test if `skep sync` ends with another exit code. */
  sync(manifests: readonly object[], exitCode?: number): Promise<void>;
  commit(manifests: readonly object[]): void;
  /** Runs a command with the settings of the fleet. Returns its standard output. Expects the exit code. */
  run(args: readonly string[], exitCode?: number): Promise<string>;
}

/** Creates a fleet whose namespace admits only pods of the level `restricted`. `more` are further settings. */
export function openFleet(namespace: string, waitSeconds = 180, more: object = {}): Fleet {
  const folder = join(FOLDER, 'fleets', namespace);
  const repository = join(folder, 'repository');
  mkdirSync(repository, { recursive: true });
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=suite', '-c', 'user.email=suite@example.com'];
    execFileSync('git', [...identity, ...args], { cwd: repository, stdio: 'ignore' });
  };
  git('init', '-b', 'main');
  const images = { proxy: IMAGES.skep, vmcp: IMAGES.skep, registry: IMAGES.skep };
  const settings = {
    name: namespace,
    sources: [{ name: 'fleet', repository: `file://${repository}`, branch: 'main' }],
    ...{ outbound: { allowFiles: true }, images, stateDir: join(folder, 'state') },
    apply: { waitSeconds, maxDeletesPercent: 100 },
    ...more,
  };
  writeFileSync(join(folder, 'skep.yaml'), JSON.stringify(settings));
  const run = async (args: readonly string[], exitCode: number): Promise<string> => {
    const { code, stdout, stderr } = await skep(args, { cwd: folder, env: { KUBECONFIG } });
    expect(code, `${stdout}${stderr}`).toBe(exitCode);
    return stdout;
  };
  const commit = (manifests: readonly object[]): void => {
    const items = [restricted(namespace), ...manifests].map((each) => JSON.stringify(each)).join('\n---\n');
    writeFileSync(join(repository, 'fleet.yaml'), items);
    git('add', '--all');
    git('commit', '--allow-empty', '-m', 'A fleet');
  };
  return {
    namespace,
    commit,
    async sync(manifests, exitCode = 0) {
      commit(manifests);
      await run(['sync'], exitCode);
    },
    run: (args, exitCode = 0) => run(args, exitCode),
  };
}

/** Returns a Namespace that admits only pods of the level `restricted`. */
export function restricted(name: string): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/** Applies the CRDs of skep. */
export async function applyDefinitions(): Promise<void> {
  const { stdout } = await skep(['crds'], { cwd: FOLDER });
  expect(kubectl(['apply', '--server-side', '-f', '-'], stdout)).toBeDefined();
}

export function server(namespace: string, name: string, spec: object, annotations = {}): object {
  return {
    ...{ apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer' },
    metadata: { name, namespace, annotations },
    spec: { image: IMAGES.everything, ...spec },
  };
}

export const STDIO = { transport: 'stdio', args: ['stdio'] };
export const HTTP = {
  ...{ transport: 'streamable-http', args: ['streamableHttp'], mcpPort: 3001 },
  env: [{ name: 'PORT', value: '3001' }],
};
export const SSE = { ...HTTP, transport: 'sse', args: ['sse'] };

/** Returns the URL of a proxy, with the address of its Service. */
export function urlOf(namespace: string, name: string): URL {
  const path = '-o=jsonpath={.spec.clusterIP}:{.spec.ports[0].port}';
  return new URL(`http://${kubectl(['-n', namespace, 'get', 'service', `mcp-${name}-proxy`, path])}/mcp`);
}

/** Connects an official client with a new session. */
export async function connect(url: URL, token?: string): Promise<Client> {
  const client = new Client({ name: 'suite', version: '1' });
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

export async function echo(client: Client, message: string): Promise<void> {
  const { content } = await client.callTool({ name: 'echo', arguments: { message } });
  expect(content).toEqual([{ type: 'text', text: `Echo: ${message}` }]);
}

/** Ends the session at the server, and closes the client. */
export async function leave(client: Client): Promise<void> {
  const { transport } = client;
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
  await client.close();
}
