// Starts a Redis master and a replica with a Sentinel on loopback, with an ACL user. TLS can be enabled for the servers
// and for the Sentinel. Tests can trigger a failover.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { endServer, hasStarted } from './redis.ts';

export const REDIS_USER = { name: 'skep', password: 'of-the-user' } as const;
export const MASTER_NAME = 'main';

export interface SentinelWorld {
  readonly sentinel: string;
  /** Address of the first master. */
  readonly master: string;
  /** Path of the authority's certificate (PEM), for TLS. */
  readonly caFile: string;
  /** Ends the first master. Resolves when the replica has become the master. */
  failOver(): Promise<void>;
  /** Closes the connections of the ACL user. */
  dropClients(): Promise<unknown>;
  /** Returns all keys, read as the default user. */
  keys(): Promise<readonly string[]>;
  /** Returns all keys and values as text. */
  dump(): Promise<string>;
  stop(): Promise<void>;
}

interface Tls {
  readonly servers?: boolean;
  readonly sentinel?: boolean;
}

/** Password of the default user. */
export const ADMIN = 'of-the-administrator';
const DAY_MS = 86_400_000;

/** Returns undefined if Redis is not installed. */
export async function startSentinel(tls: Tls = {}): Promise<SentinelWorld | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'skep-sentinel-'));
  const caFile = writeCertificates(folder);
  const [first, second, sentinel] = [await freePort(), await freePort(), await freePort()];
  const acl = `user skep on >${REDIS_USER.password} ~thv:auth:{tests:weather}:* -@all +@read +@write +@connection +@scripting +info`;
  const base = [
    `requirepass "${ADMIN}"`,
    `masterauth "${ADMIN}"`,
    acl,
    'save ""',
    'appendonly no',
    'repl-diskless-sync-delay 0',
  ];
  const securesServers = tls.servers === true ? [...certificates(folder), 'tls-replication yes'] : [];
  const master = startServer(folder, 'first', [...listening(first, tls.servers), ...base, ...securesServers]);
  if (!(await hasStarted(master))) return undefined;
  const replica = startServer(folder, 'second', [
    ...listening(second, tls.servers),
    ...base,
    ...securesServers,
    `replicaof 127.0.0.1 ${first}`,
  ]);
  await hasStarted(replica);
  const admin = (port: number) =>
    new Redis({
      host: '127.0.0.1',
      port,
      password: ADMIN,
      lazyConnect: false,
      ...(tls.servers === true ? { tls: { rejectUnauthorized: false } } : {}),
    });
  const ofReplica = admin(second);
  await until(async () => (await ofReplica.info('replication')).includes('master_link_status:up'));
  const watcher = startServer(
    folder,
    'sentinel',
    [
      ...listening(sentinel, tls.sentinel),
      // If the servers use TLS, the Sentinel needs certificates too, to connect to them.
      ...(tls.servers === true || tls.sentinel === true ? certificates(folder) : []),
      ...(tls.servers === true ? ['tls-replication yes'] : []),
      `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${first} 1`,
      `sentinel auth-pass ${MASTER_NAME} "${ADMIN}"`,
      `sentinel down-after-milliseconds ${MASTER_NAME} 500`,
      `sentinel failover-timeout ${MASTER_NAME} 5000`,
    ],
    ['--sentinel'],
  );
  const asked = new Redis({
    host: '127.0.0.1',
    port: sentinel,
    ...(tls.sentinel === true ? { tls: { rejectUnauthorized: false } } : {}),
  });
  asked.on('error', () => undefined);
  await until(async () => {
    const replicas = (await asked.call('SENTINEL', 'REPLICAS', MASTER_NAME)) as string[][];
    return replicas.some((each) => each.includes(String(second)) && each.join(' ').includes('master-link-status ok'));
  });
  let current = first;
  async function inspect<T>(look: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = admin(current);
    try {
      return await look(redis);
    } finally {
      redis.disconnect();
    }
  }
  return {
    sentinel: `127.0.0.1:${sentinel}`,
    master: `127.0.0.1:${first}`,
    caFile,
    async failOver() {
      await endServer(master);
      await until(
        async () =>
          ((await asked.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)) as string[])[1] === String(second),
      );
      await until(async () => (await ofReplica.info('replication')).includes('role:master'));
      current = second;
    },
    dropClients: () => inspect((redis) => redis.call('CLIENT', 'KILL', 'USER', REDIS_USER.name)),
    keys: () => inspect((redis) => redis.keys('*')),
    dump: () =>
      inspect(async (redis) => {
        const keys = await redis.keys('*');
        const values = await Promise.all(keys.map((key) => redis.get(key)));
        return keys.map((key, index) => `${key} ${values[index]}`).join('\n');
      }),
    async stop() {
      asked.disconnect();
      ofReplica.disconnect();
      await Promise.all([watcher, replica, master].map(endServer));
    },
  };
}

function startServer(
  folder: string,
  name: string,
  lines: readonly string[],
  more: readonly string[] = [],
): ChildProcess {
  const file = join(folder, `${name}.conf`);
  writeFileSync(file, [...lines, 'bind 127.0.0.1', `dir ${folder}`].join('\n'));
  return spawn('redis-server', [file, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
}

function listening(port: number, secure: boolean | undefined): readonly string[] {
  return secure === true ? ['port 0', `tls-port ${port}`, 'tls-auth-clients no'] : [`port ${port}`];
}

function certificates(folder: string): readonly string[] {
  return [
    `tls-cert-file ${join(folder, 'tls.crt')}`,
    `tls-key-file ${join(folder, 'tls.key')}`,
    `tls-ca-cert-file ${join(folder, 'ca.crt')}`,
    'tls-auth-clients no',
  ];
}

function writeCertificates(folder: string): string {
  const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  const authority = createAuthority('redis of the tests', validity);
  const { certificate, privateKey } = createServerCertificate(authority, 'redis of the tests', ['127.0.0.1'], validity);
  writeFileSync(join(folder, 'ca.crt'), authority.certificate);
  writeFileSync(join(folder, 'tls.crt'), certificate);
  writeFileSync(join(folder, 'tls.key'), privateKey);
  return join(folder, 'ca.crt');
}

/** Polls until the condition holds, because the servers send no events about it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 50));
}
