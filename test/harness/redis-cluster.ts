// Starts a Redis Cluster on loopback with two masters, each with half of the slots, and an ACL user.

import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { endServer, hasStarted } from './redis.ts';

export interface RedisCluster {
  /** Address of one of the nodes. */
  readonly address: string;
  stop(): Promise<void>;
}

const PASSWORD = 'of-the-cluster';
export const CLUSTER_PASSWORD = PASSWORD;

/** Number of slots of a Redis Cluster. */
const SLOTS = 16_384;

/** Returns undefined if Redis is not installed. */
export async function startCluster(): Promise<RedisCluster | undefined> {
  const ports = [await freePort(), await freePort()] as const;
  // The cluster bus of a node needs a second port. By default its number is larger by 10000.
  const buses = [await freePort(), await freePort()] as const;
  const servers = ports.map((port, index) => {
    const folder = mkdtempSync(join(tmpdir(), 'skep-cluster-'));
    const options = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
    ];
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(buses[index])];
    const secret = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
    return spawn('redis-server', [...options, ...cluster, ...secret], { stdio: ['ignore', 'pipe', 'inherit'] });
  });
  const started = await Promise.all(servers.map(hasStarted));
  if (!started.every((each) => each)) return undefined;
  await joinNodes(ports, buses);
  return {
    address: `127.0.0.1:${ports[0]}`,
    stop: async () => void (await Promise.all(servers.map(endServer))),
  };
}

async function joinNodes(ports: readonly [number, number], buses: readonly [number, number]): Promise<void> {
  const nodes = ports.map((port) => new Redis({ host: '127.0.0.1', port, password: PASSWORD }));
  const [first, second] = nodes;
  if (first === undefined || second === undefined) return;
  const half = SLOTS / 2;
  await first.call('CLUSTER', 'ADDSLOTSRANGE', 0, half - 1);
  await second.call('CLUSTER', 'ADDSLOTSRANGE', half, SLOTS - 1);
  await first.call('CLUSTER', 'MEET', '127.0.0.1', ports[1], buses[1]);
  for (const node of nodes) {
    while (!String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    node.disconnect();
  }
}
