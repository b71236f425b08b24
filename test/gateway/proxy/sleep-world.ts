// A development cluster whose node runs the pods of a server that sleeps, and the proxy in front of it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { runProxy, type TestedProxy } from './world.ts';

const PROGRAM = fileURLToPath(new URL('sleeper.mjs', import.meta.url));
const IMAGE = 'images.example.com/sleeper:1';

export type Mode = 'stdio' | 'http';

export interface Sleeper {
  readonly name: string;
  readonly proxy: TestedProxy;
  /** File with a line for each start of the server. */
  readonly file: string;
  /** Numbers of the processes of the server, in the order of their starts. */
  starts(): readonly string[];
  /** Number of pods that the StatefulSet should have. */
  declared(): Promise<number>;
  /** Resolves once the server is asleep. */
  asleep(): Promise<void>;
  /** Sets the number of pods as a person does. */
  scale(replicas: number): Promise<void>;
}

export interface SleepWorld {
  readonly cluster: TestCluster;
  /** Creates a server with its Service and the Deployment of its proxy, and starts the proxy in this process. */
  start(name: string, mode: Mode, settings?: SleeperSettings): Promise<Sleeper>;
  /** Stops all proxies, so that they change no number of pods any more. */
  stopProxies(): Promise<void>;
  stop(): Promise<void>;
}

interface SleeperSettings {
  readonly afterSeconds?: number;
  readonly wakeSeconds?: number;
  /** Declared pods of the Deployment of the proxy. */
  readonly proxies?: number;
  /** Declared pods at the start of the proxy. */
  readonly pods?: number;
  readonly config?: Partial<RunConfig>;
}

export async function openSleepWorld(): Promise<SleepWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'sleep-'));
  const cluster = await startTestCluster({
    workloadsReadyAfterMs: 0,
    node: {
      path: process.env.PATH ?? '',
      find: ({ image }) =>
        image === IMAGE ? { command: [process.execPath, PROGRAM] } : { absent: `${image} is the proxy of the test` },
    },
  });
  vi.stubEnv('KUBECONFIG', cluster.kubeconfigPath);
  const proxies: TestedProxy[] = [];
  async function stopProxies(): Promise<void> {
    for (const proxy of proxies.splice(0)) await proxy.stop();
  }
  return {
    cluster,
    async start(name, mode, settings = {}) {
      const sleeper = await startSleeper(cluster, folder, name, mode, settings);
      proxies.push(sleeper.proxy);
      return sleeper;
    },
    stopProxies,
    async stop() {
      await stopProxies();
      vi.unstubAllEnvs();
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const SERVICES = '/api/v1/namespaces/default/services';

async function startSleeper(
  cluster: TestCluster,
  folder: string,
  name: string,
  mode: Mode,
  { afterSeconds = 1, wakeSeconds = 60, proxies = 1, pods = 1, config = {} }: SleeperSettings,
): Promise<Sleeper> {
  const file = join(folder, name);
  const labels = { app: name };
  const container = {
    name: 'mcp',
    image: IMAGE,
    args: [mode, file],
    ...(mode === 'stdio'
      ? { stdin: true }
      : {
          env: [{ name: 'MCP_PORT', value: '8080' }],
          ports: [{ name: 'mcp', containerPort: 8080 }],
          readinessProbe: { tcpSocket: { port: 'mcp' }, periodSeconds: 1 },
        }),
  };
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 2, containers: [container] } };
  const selector = { matchLabels: labels };
  await create(cluster, SETS, 'apps/v1', 'StatefulSet', name, {
    replicas: pods,
    serviceName: name,
    selector,
    template,
  });
  const proxyTemplate = {
    metadata: { labels: { app: `${name}-proxy` } },
    spec: { containers: [{ name: 'toolhive', image: 'images.example.com/proxy:1' }] },
  };
  await create(cluster, DEPLOYMENTS, 'apps/v1', 'Deployment', name, {
    ...{ replicas: proxies, selector: { matchLabels: { app: `${name}-proxy` } }, template: proxyTemplate },
  });
  await create(cluster, SERVICES, 'v1', 'Service', name, {
    ...{ selector: labels, ports: [{ port: 8080, targetPort: mode === 'http' ? 'mcp' : 8080 }] },
  });
  const place: Partial<RunConfig> =
    mode === 'stdio'
      ? { transport: 'stdio', attach: { namespace: 'default', pod: `${name}-0`, container: 'mcp' } }
      : {
          target_host: '127.0.0.1',
          target_port: (await cluster.cluster.node?.services.port('default', name, 8080)) ?? 0,
        };
  const sleep = { after_seconds: afterSeconds, wake_seconds: wakeSeconds, stateful_set: name, deployment: name };
  const proxy = await runProxy({ name, namespace: 'default', sleep, ...place, ...config });
  const readScale = async () => (await cluster.send('GET', `${SETS}/${name}/scale`)).body;
  return {
    ...{ name, proxy, file },
    starts: () => readFileSync(file, 'utf8').trim().split('\n'),
    declared: async () => (await readScale()).spec.replicas ?? 0,
    asleep: async () => {
      await eventually(readScale, ({ spec, status }) => (spec.replicas ?? 0) === 0 && (status.replicas ?? 0) === 0);
    },
    scale: async (replicas) => {
      const contentType = 'application/merge-patch+json';
      await cluster.send('PATCH', `${SETS}/${name}/scale`, { body: { spec: { replicas } }, contentType });
    },
  };
}

async function create(
  cluster: TestCluster,
  path: string,
  apiVersion: string,
  kind: string,
  name: string,
  spec: object,
): Promise<void> {
  const { status, text } = await cluster.send('POST', path, { body: { apiVersion, kind, metadata: { name }, spec } });
  if (status !== 201) throw new Error(text);
}
