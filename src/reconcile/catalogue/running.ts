// Which servers of the fleet run, for those who read the catalogue: where clients reach each, whether it is ready, and what a
// catalogue may know it by. Leaves it in the stores of the registries. Knows nothing about SQL, nor about what a spec means.

import type { Runner } from '../../catalogue/ports.ts';
import type { RunningServer } from '../../contracts/running-servers.ts';
import type { Endpoint } from '../../kinds/kind.ts';
import { idOf, keyOf } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { Resolved } from '../resolve/resolve.ts';
import { readyCondition, type StatusChange } from '../settle/readiness.ts';
import { type ObservedState, type Owned, resourceFrom } from '../settle/settle.ts';
import type { RegistryDeps, RegistryResults, RegistryStore } from './registries.ts';

export interface Settled {
  readonly observed: ObservedState;
  /** Statuses that are other ones than those observed. */
  readonly changes: readonly StatusChange[];
}

/**
 * Ours, and what others applied by hand where that is in scope, whatever became of the manifests: a server that is kept unchanged
 * runs. Undefined where not everything could be listed.
 */
export function runningServers(
  { standings }: Pick<Resolved, 'standings'>,
  { observed, changes }: Settled,
): readonly RunningServer[] | undefined {
  if (observed.unlisted.size > 0) return undefined;
  const byHand = standings.flatMap(({ loaded: { id, kind, byHand } }): readonly Owned[] => {
    const object = byHand === true ? observed.living(id) : undefined;
    return object === undefined || kind === undefined ? [] : [{ kind, object }];
  });
  const statuses = new Map(changes.map(({ id, status }) => [keyOf(id), status]));
  const servers = new Map<string, RunningServer>();
  for (const { kind, object } of [...observed.owned, ...byHand]) {
    if (object.metadata.deletionTimestamp !== undefined || !isObject(object.spec)) continue;
    const { name, namespace = '' } = object.metadata;
    const resource = resourceFrom(object, object.spec);
    const status = statuses.get(keyOf(idOf(object))) ?? resource.status ?? {};
    for (const server of exposed(kind.exposes(resource, observed.views(namespace)))) {
      servers.set(`${namespace}/${name}/${kind.kind}`, { namespace, name, ...server, ready: isAnswering(status) });
    }
  }
  return [...servers.values()].toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What runs with fewer backends than it has answers as well. */
function isAnswering(status: JsonObject): boolean {
  return readyCondition(status)?.status === 'True' || status.phase === 'Degraded';
}

function exposed(endpoints: readonly Endpoint[]): readonly Omit<RunningServer, 'namespace' | 'name' | 'ready'>[] {
  return endpoints.map((endpoint) => {
    const transport = endpoint.transport === 'sse' ? 'sse' : 'streamable-http';
    // What cannot be read may ask for a token.
    const auth = endpoint.auth.type === 'anonymous' ? 'none' : 'oidc';
    return { url: clientUrl(endpoint.url, transport), transport, auth, ...knownBy(endpoint) };
  });
}

function knownBy({ offer }: Endpoint): Pick<RunningServer, 'image' | 'args' | 'remoteUrl'> {
  if (offer.type === 'members') return {};
  return 'image' in offer.server ? offer.server : { remoteUrl: offer.server.url };
}

/** The existing platform writes `status.url` of an MCPRemoteProxy without a path; clients need one. */
function clientUrl(url: string, transport: RunningServer['transport']): string {
  const { pathname } = new URL(url);
  return pathname === '/' ? `${url}${transport === 'sse' ? '/sse' : '/mcp'}` : url;
}

/**
 * One statement for the store of the instance, which gets everything, and one for each registry with a store of its own, which gets
 * what runs in its namespace. Gives what failed, and is not known yet: the run is none the worse for it.
 */
export async function recordRunning(
  { registries: ports }: { readonly registries?: RegistryDeps | undefined },
  runner: Runner,
  { stores, failures }: Pick<RegistryResults, 'stores' | 'failures'>,
  servers: readonly RunningServer[] | undefined,
): Promise<readonly Failure[]> {
  if (ports === undefined || servers === undefined) return [];
  const known = new Set(failures.map(({ message }) => message));
  const found: Failure[] = [];
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      if (!known.has(failure.message)) found.push(failure);
      known.add(failure.message);
      return undefined;
    }
  }
  const common = await attempt(async () => ports.commonStore?.());
  await attempt(async () => common?.recordRunning(runner, servers));
  for (const { writer, namespace } of distinctPlaces(stores.filter((store) => store.writer !== common))) {
    const own = servers.filter((server) => server.namespace === namespace);
    await attempt(() => writer.recordRunning(runner, own, namespace));
  }
  return found;
}

/** Registries of one namespace may share a store. */
function distinctPlaces(stores: readonly RegistryStore[]): readonly RegistryStore[] {
  return stores.filter(
    ({ writer, namespace }, index) =>
      stores.findIndex((each) => each.writer === writer && each.namespace === namespace) === index,
  );
}
