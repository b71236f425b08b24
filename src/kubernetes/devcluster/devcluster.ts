// Starts an embedded Kubernetes API server for first steps and tests. The server serves HTTPS on loopback and stores
// its state in a directory.

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { accountOf, isForAccounts } from './accounts/accounts.ts';
import { type AccountSigner, openSigner } from './accounts/signer.ts';
import type { ApiContext } from './api/context.ts';
import type { AttachProtocol } from './attach/channels.ts';
import type { ContainerRunner } from './attach/containers.ts';
import { openUpgrades } from './attach/upgrades.ts';
import { controlDefinitions } from './controllers/definitions.ts';
import { controlGarbage } from './controllers/garbage.ts';
import { controlNamespaces, seedNamespaces } from './controllers/namespaces.ts';
import { ownersOf } from './controllers/owners.ts';
import { openQueue } from './controllers/queue.ts';
import { controlWorkloads, type WorkloadControl } from './controllers/workloads.ts';
import { openOpenApi } from './discovery/openapi.ts';
import { type Counters, openCounters } from './http/counters.ts';
import { type Faults, openFaults } from './http/faults.ts';
import { type HandlerParts, handle } from './http/handle.ts';
import { isPublicPath } from './http/plain.ts';
import { listen } from './http/server.ts';
import { type Identity, loadIdentity, writeKubeconfig } from './identity/identity.ts';
import { type ClusterNode, type NodeOptions, startNode } from './node/node.ts';
import { whyWorkloadAbsent } from './node/programs.ts';
import { nodeApi } from './node/store-api.ts';
import { openTypeTable } from './resources/type-table.ts';
import { openJournal } from './storage/journal.ts';
import { lockDirectory } from './storage/lock.ts';
import { openStore } from './storage/store.ts';

const READY_AFTER_MS = 1000;

interface DevclusterClock {
  /**
   * Milliseconds since 1970. Must be near the real time, because TLS clients check the server's certificate by their
   * own clock.
   */
  now(): number;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface DevclusterOptions {
  /** State directory, created if missing. Only one process at a time can use it. */
  readonly dir: string;
  /** If 0 or absent, any free port is used. */
  readonly port?: number;
  readonly clock: DevclusterClock;
  /** Milliseconds until workloads without pods become ready. Defaults to 1000. */
  readonly workloadsReadyAfterMs?: number;
  /** If set, serves `pods/attach` instead of the node's containers. */
  readonly containers?: ContainerRunner;
  /** If set, a node runs pods as processes of this machine. Otherwise no pods are created. */
  readonly node?: Omit<NodeOptions, 'api' | 'apiServer' | 'clock' | 'dir' | 'failed'>;
  /** Subprotocols of `pods/attach`. Defaults to v4 and v5. */
  readonly attachProtocols?: readonly AttachProtocol[];
}

export interface Devcluster {
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  readonly kubeconfigPath: string;
  /** undefined if no node was requested. */
  readonly node: ClusterNode | undefined;
  /** Must be called after the programs for images have changed. */
  programsChanged(): void;
  /** Faults for later requests, injected by tests. */
  readonly faults: Faults;
  /** Returns the counts of requests since the start or the last reset. */
  counters(): Counters;
  resetCounters(): void;
  /** Closes all connections and releases the directory. May be called more than once. */
  stop(): Promise<void>;
}

/** Throws Failure `devcluster-locked`, `devcluster-state-broken`, `devcluster-port-taken`. */
export async function startDevcluster(options: DevclusterOptions): Promise<Devcluster> {
  const { dir, clock } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const lock = await lockDirectory(dir);
  const undo: (() => void | Promise<void>)[] = [() => lock.release()];
  const stop = once(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });
  try {
    const identity = await loadIdentity(dir, clock.now());
    const store = openStore(openJournal(dir));
    undo.push(() => store.close());
    const api = openApi(store, clock);
    const signer = await openSigner(dir);
    const address: Address = { text: '' };
    const parts: ServerParts = { api, options, identity, signer, address };
    const node = openNode(parts);
    undo.push(async () => node?.stop());
    const { lookAgain: programsChanged, end } = startControllers(api, options, identity);
    undo.push(end);
    const served = await serve(parts, node);
    undo.push(() => served.close());
    const kubeconfigPath = await writeKubeconfig(dir, served.url, identity);
    const { url, faults, counters } = served;
    const { read, reset: resetCounters } = counters;
    return { url, kubeconfigPath, node, programsChanged, faults, counters: read, resetCounters, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Host and port of the server. Empty until it listens. */
interface Address {
  text: string;
}

interface ServerParts {
  readonly api: ApiContext;
  readonly options: DevclusterOptions;
  readonly identity: Identity;
  readonly signer: AccountSigner;
  readonly address: Address;
}

function openNode({ api, options, identity, signer, address }: ServerParts): ClusterNode | undefined {
  const { node, dir, clock } = options;
  if (node === undefined) return undefined;
  const accounts = { signer, authority: identity.authorityCertificate };
  const apiServer = () => `https://${address.text}`;
  return startNode({
    ...node,
    apiServer,
    api: nodeApi(api, accounts),
    clock,
    dir: join(dir, 'node'),
    failed: reportBug,
  });
}

function startControllers(api: ApiContext, options: DevclusterOptions, identity: Identity): WorkloadControl {
  const queue = openQueue(reportBug);
  seedNamespaces(api);
  const others = [
    controlDefinitions(api, queue),
    controlNamespaces(api, queue, identity.authorityCertificate),
    controlGarbage(api, queue),
  ];
  const workloads = controlWorkloads(api, queue, {
    readyAfterMs: options.workloadsReadyAfterMs ?? READY_AFTER_MS,
    whyAbsent: (workload) =>
      options.node === undefined ? '' : whyWorkloadAbsent(options.node.find, workload, ownersOf(api, workload)),
  });
  return {
    lookAgain: workloads.lookAgain,
    end() {
      queue.stop();
      for (const end of [...others, workloads.end]) end();
    },
  };
}

/** Reports an error of a controller, which is a bug, as a process warning. */
function reportBug(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

async function serve({ api, options, identity, signer, address }: ServerParts, node: ClusterNode | undefined) {
  const { port = 0, clock, containers = node?.containers ?? NO_CONTAINERS, attachProtocols } = options;
  const counters = openCounters();
  const faults = openFaults();
  const plain = { signer, types: api.types.all, openApi: openOpenApi(), counters, faults, address: () => address.text };
  const parts: HandlerParts = {
    ...{ api, plain, faults, counters, sleep: (ms: number) => clock.sleep(ms) },
    findLog: (name) => node?.container(name)?.log,
    findPodPort: (namespace, pod, port) => node?.podPort(namespace, pod, port),
  };
  const listener = await listen({
    identity,
    port,
    isPublic: isPublicPath,
    accountOf: (token) => accountOf(api, signer, token),
    isForAccounts,
    handle: (exchange) => handle(parts, exchange),
    upgrade: openUpgrades({ api, counters, faults, containers, protocols: attachProtocols }, (namespace, pod, number) =>
      node?.podPort(namespace, pod, number),
    ),
  });
  address.text = `127.0.0.1:${listener.port}`;
  return { url: `https://${address.text}`, faults, counters, close: () => listener.close() };
}

const NO_CONTAINERS: ContainerRunner = { connect: () => undefined };

function openApi(store: ApiContext['store'], clock: DevclusterClock): ApiContext {
  return { store, types: openTypeTable(store), now: () => clock.now(), newUid: randomUUID, newSuffix };
}

/** Alphabet of generated names, without vowels and without digits that look like letters. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

function newSuffix(): string {
  return [...randomBytes(5)].map((byte) => SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length]).join('');
}

function once(action: () => Promise<void>): () => Promise<void> {
  let started: Promise<void> | undefined;
  return () => {
    started ??= action();
    return started;
  };
}
