// Lists the running servers of the fleet for the catalogue: URL for clients, readiness, and image or remote URL. By the
// image or remote URL, a catalogue recognises a server.

import { readProvenance } from '#contracts/registry/image-provenance.ts';
import type { ListedServer, RunningServer } from '#contracts/running-servers.ts';
import { groupOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Endpoint, Resource, View } from '../../kinds/kind.ts';
import type { OwnKinds } from '../instance.ts';
import { type ReadableResource, readableResources } from '../observe/readable-resources.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Standing } from '../resolve/resolve.ts';
import { driftText, readyCondition, type StatusChange } from '../settle/readiness.ts';
import type { ObservedState } from '../settle/settle.ts';
import type { RegistryDeps } from './registries.ts';

export interface Settled {
  readonly observed: ObservedState;
  /** Statuses that differ from the observed statuses. */
  readonly changes: readonly StatusChange[];
}

interface DeclaredServer extends Pick<Standing, 'health'> {
  readonly loaded: Pick<Sourced, 'id' | 'byHand'>;
}

interface RunningDeps {
  readonly registries?: RegistryDeps | undefined;
}

/**
 * Returns our servers. If the scope includes servers that other people applied by hand, also returns these servers. A
 * server with an invalid manifest is included, because it still runs. Live objects that do not fit our kinds are left
 * out. Returns undefined if one of our kinds could not be listed, or if the run has no registries.
 */
export function runningServers(
  { registries }: RunningDeps,
  options: OwnKinds,
  { standings }: { readonly standings: readonly DeclaredServer[] },
  { observed, changes }: Settled,
): readonly ListedServer[] | undefined {
  if (registries === undefined || options.kinds.some(({ kind }) => observed.unlisted.has(kind))) return undefined;
  const byHand = standings.flatMap(({ health, loaded: { id, byHand } }): readonly KubeObject[] => {
    const object = byHand === true && health !== 'held' ? observed.living(id) : undefined;
    return object === undefined ? [] : [object];
  });
  const read = objectReader(options);
  const statuses = new Map(changes.map(({ id, status }) => [keyOf(id), status]));
  const servers = new Map<string, ListedServer>();
  for (const object of [...observed.owned.map((each) => each.object), ...byHand]) {
    const { deletionTimestamp, name, namespace = '' } = object.metadata;
    const found = deletionTimestamp === undefined ? read(object) : undefined;
    if (found === undefined) continue;
    const status = statuses.get(keyOfObject(object)) ?? (isObject(object.status) ? object.status : {});
    const view = readableView(options, observed.views(namespace), read);
    for (const server of found.kind.exposes(found.resource, view).flatMap(reachableServer)) {
      const drift = driftText(status);
      const workload = observed.views(namespace).find('StatefulSet', name);
      const state = {
        ready: isAnswering(status),
        ...(drift === undefined ? {} : { drift }),
        ...provenanceOf(server, workload),
      };
      servers.set(`${namespace}/${name}/${object.kind}`, { namespace, name, ...server, ...state });
    }
  }
  return [...servers.values()].toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

type ReadObject = (object: KubeObject) => ReadableResource | undefined;

/** Returns a function that parses each object once. */
function objectReader({ kinds, apiGroup }: OwnKinds): ReadObject {
  const known = new Map<KubeObject, ReadableResource | undefined>();
  return (object) => {
    if (!known.has(object)) known.set(object, readableResources(kinds, apiGroup, [object])[0]);
    return known.get(object);
  };
}

/** Leaves out objects that do not fit our kinds: another operator or an older release may have written them. */
function readableView({ apiGroup }: OwnKinds, view: View, read: ReadObject): View {
  function readable(object: KubeObject): KubeObject | Resource | undefined {
    return groupOf(object.apiVersion) === apiGroup ? read(object)?.resource : object;
  }
  return {
    find(kind, name) {
      const object = view.find(kind, name);
      return object === undefined ? undefined : readable(object);
    },
    all: (kind) => view.all(kind).flatMap((object) => readable(object) ?? []),
    pods: view.pods,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the attestations of the server's image, from an annotation of its StatefulSet. */
function provenanceOf(
  { image }: Pick<RunningServer, 'image'>,
  workload: KubeObject | undefined,
): Pick<RunningServer, 'provenance'> {
  const provenance = image === undefined ? [] : readProvenance(workload?.metadata.annotations, image);
  return provenance.length === 0 ? {} : { provenance };
}

/** Returns true if the server responds. A degraded server also responds, and lacks only some of its backends. */
function isAnswering(status: JsonObject): boolean {
  return readyCondition(status)?.status === 'True' || status.phase === 'Degraded';
}

function reachableServer(endpoint: Endpoint): readonly Omit<ListedServer, 'namespace' | 'name' | 'ready'>[] {
  const transport = endpoint.transport === 'sse' ? 'sse' : 'streamable-http';
  // An endpoint whose authentication cannot be read may require a token.
  const auth = endpoint.auth.type === 'anonymous' ? 'none' : 'oidc';
  const url = clientUrl(endpoint.url, transport);
  const { listing } = endpoint;
  return url === undefined ? [] : [{ url, transport, auth, ...identityOf(endpoint), ...(listing && { listing }) }];
}

function identityOf({ offer }: Endpoint): Pick<RunningServer, 'image' | 'args' | 'remoteUrl'> {
  if (offer.type === 'members') return {};
  return 'image' in offer.server ? offer.server : { remoteUrl: offer.server.url };
}

/**
 * Returns the URL for clients, with a path; undefined if the URL is invalid. ToolHive writes `status.url` of an
 * MCPRemoteProxy without a path.
 */
function clientUrl(url: string, transport: RunningServer['transport']): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  return parsed.pathname === '/' ? `${url}${transport === 'sse' ? '/sse' : '/mcp'}` : url;
}
