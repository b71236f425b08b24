// Syncs due or triggered sources of MCPRegistries before desired objects are computed. A plan only reads stored states.

import type { CatalogueState } from '#contracts/catalogue-state.ts';
import { keyOf } from '#kubernetes/rules/object.ts';
import { due } from '#registry/catalogue/due.ts';
import { provenanceByImage } from '#registry/catalogue/entry.ts';
import type { FleetRegistry } from '#registry/catalogue/fleet.ts';
import type { CatalogueWriter, SourceKey, SourceReader, WriteCounts } from '#registry/catalogue/ports.ts';
import { type RoundPorts, syncRound } from '#registry/catalogue/round.ts';
import type { SyncOutcome } from '#registry/catalogue/sync.ts';
import { openTurns } from '#registry/catalogue/turns.ts';
import { Failure } from '#std/failure.ts';
import { parseJson } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import type { Kind, Resource, View } from '../../kinds/kind.ts';
import type { SyncMode } from '../instance.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Clock } from '../ports.ts';
import type { Sourced } from '../read/sourced.ts';
import { type EnforcedImages, type RegistryProvenance, registriesIn } from './enforcement.ts';
import { asFound, isMounted, isOfFleet } from './found-sources.ts';

export interface RegistryDeps {
  /** Returns a reader of sources. `view` has the ConfigMaps and passwords of the registry's namespace. */
  readonly sourceFor: (view: View, namespace: string) => SourceReader;
  /** Returns the database of a registry; throws Failure if it is unreachable. Only mode `sync` migrates its schema. */
  readonly storeFor: (kind: Kind, registry: Resource, view: View, mode: SyncMode) => Promise<CatalogueWriter>;
  /** Returns the database of the instance, if it has one. Throws Failure if the database is unreachable. */
  readonly commonStore?: () => Promise<CatalogueWriter | undefined>;
  /** Starts `work`, which may outlast the run. Returns all outcomes since the last call. Default: waits for `work`. */
  readonly beside?: (
    source: string,
    work: ((signal: AbortSignal) => Promise<readonly SyncOutcome[]>) | undefined,
  ) => Promise<readonly SyncOutcome[]>;
}

export interface RegistryResults {
  /** States by `namespace/name` of the registry. The map lacks registries whose database could not be read. */
  readonly states: ReadonlyMap<string, CatalogueState>;
  /** Messages of failed reads of a registry's database, by `namespace/name` of the registry. */
  readonly unreadable: ReadonlyMap<string, string>;
  readonly images: EnforcedImages;
  readonly provenance: RegistryProvenance;
  readonly outcomes: readonly CatalogueOutcome[];
  readonly problems: readonly Problem[];
  readonly failures: readonly Failure[];
  /** Databases of the registries that have a reachable database of their own. */
  readonly ownStores: readonly RegistryStore[];
  /** Sources whose entries are the running servers, which are known only at the end of a run. */
  readonly fleets: readonly FleetRegistry[];
}

export interface RegistryStore {
  readonly namespace: string;
  readonly writer: CatalogueWriter;
}

export interface CatalogueOutcome {
  /** `namespace/registry/source`. */
  readonly source: string;
  readonly action: 'synced' | 'unchanged' | 'failed';
  readonly servers: number;
  readonly rejected: number;
  readonly written?: WriteCounts;
  readonly message: string;
}

interface RegistrySyncInput {
  readonly key: string;
  readonly kind: Kind;
  readonly resource: Resource;
  readonly view: View;
  readonly knows: (kind: string, name: string) => boolean;
  /** Value of the annotation that triggers a sync: in Git or, if Git has none, on the live object. */
  readonly trigger: string | undefined;
  readonly mode: SyncMode;
  /** True if a registry of the namespace sets `enforceServers`. */
  readonly enforced: boolean;
  readonly verified: boolean;
}

export interface SyncInput {
  readonly mode: SyncMode;
  readonly apiGroup: string;
  readonly loaded: readonly Pick<Sourced, 'id' | 'kind' | 'defaulted'>[];
  /** Keys of objects that are not applied as declared (invalid, denied, left alone). Their sources are not synced. */
  readonly unfit: ReadonlySet<string>;
  readonly living: Snapshot['find'];
  readonly views: (namespace: string) => View;
  /** Returns true if a run verifies images of the namespace. If absent, no images are verified. */
  readonly verifies?: (namespace: string) => boolean;
  /** Returns false if the object may exist although the view lacks it, because the object could not be read. */
  readonly knows: (kind: string, namespace: string, name: string) => boolean;
}

const NOTHING: RegistryResults = {
  states: new Map(),
  unreadable: new Map(),
  images: new Map(),
  provenance: new Map(),
  outcomes: [],
  problems: [],
  failures: [],
  ownStores: [],
  fleets: [],
};

export async function syncRegistries(
  deps: { readonly registries?: RegistryDeps | undefined; readonly clock: Clock },
  input: SyncInput,
): Promise<RegistryResults> {
  const { registries: ports, clock } = deps;
  if (ports === undefined) return NOTHING;
  const inTurn = openTurns(clock);
  const results = await Promise.all(registriesOf(input).map((each) => registryResults({ ports, clock, inTurn }, each)));
  return {
    states: new Map(results.flatMap((result) => [...result.states])),
    unreadable: new Map(results.flatMap((result) => [...result.unreadable])),
    images: new Map(results.flatMap((result) => [...result.images])),
    provenance: new Map(results.flatMap((result) => [...result.provenance])),
    outcomes: results.flatMap((result) => result.outcomes),
    problems: results.flatMap((result) => result.problems),
    failures: results.flatMap((result) => result.failures),
    ownStores: results.flatMap((result) => result.ownStores),
    fleets: results.flatMap((result) => result.fleets),
  };
}

/** Merges the results of two syncs in one run. Of two outcomes of a source, only the later one is kept. */
export function inOneRun(before: RegistryResults, now: RegistryResults): RegistryResults {
  const again = new Set(now.outcomes.map(({ source }) => source));
  return {
    ...now,
    outcomes: [...before.outcomes.filter(({ source }) => !again.has(source)), ...now.outcomes],
    problems: [...before.problems, ...now.problems],
  };
}

function registriesOf({
  mode: ofRun,
  apiGroup,
  loaded,
  unfit,
  living,
  views,
  ...input
}: SyncInput): RegistrySyncInput[] {
  const annotation = `${apiGroup}/sync-trigger`;
  return loaded.flatMap(({ id, kind, defaulted }) => {
    if (kind === undefined || defaulted === undefined || kind.sources(defaulted).length === 0) return [];
    const namespace = id.namespace ?? '';
    // The value in Git has precedence: the run applies it to the cluster.
    const trigger = defaulted.metadata.annotations?.[annotation] ?? living(id)?.metadata.annotations?.[annotation];
    const mode = unfit.has(keyOf(id)) ? 'read' : ofRun;
    const view = views(namespace);
    const enforced = registriesIn(view, [kind]).some(({ enforces }) => enforces);
    const knows: RegistrySyncInput['knows'] = (of, name) => input.knows(of, namespace, name);
    const key = `${namespace}/${id.name}`;
    const verified = input.verifies?.(namespace) === true;
    return [{ key, kind, resource: defaulted, view, knows, trigger, mode, enforced, verified }];
  });
}

interface SyncDeps {
  readonly ports: RegistryDeps;
  readonly clock: Clock;
  readonly inTurn: RoundPorts['inTurn'];
}

async function registryResults(deps: SyncDeps, registry: RegistrySyncInput): Promise<RegistryResults> {
  const { kind, resource, view, key, mode } = registry;
  try {
    const writer = await deps.ports.storeFor(kind, resource, view, mode);
    const own = { namespace: resource.metadata.namespace ?? '', registry: resource.metadata.name };
    const before = await writer.states(own);
    const outcomes = mode === 'sync' ? await syncSources(deps, registry, own, { writer, states: before }) : [];
    const states = outcomes.length === 0 ? before : await writer.states(own);
    // The entries of a source before its first sync are unknown, not empty.
    const sources = kind.sources(resource);
    const synced = sources.every((source) => isOfFleet(source) || states[source.name]?.lastSyncTime !== undefined);
    const fleets = mode === 'sync' ? sources.filter(isOfFleet) : [];
    return {
      ...NOTHING,
      states: new Map([[key, states]]),
      images: new Map(registry.enforced && synced ? [[key, await writer.images(own)]] : []),
      provenance: new Map(registry.verified && synced ? [[key, statedIn(await writer.provenance(own))]] : []),
      outcomes: outcomes.map((outcome) => catalogueOutcome(key, outcome)),
      problems: outcomes.flatMap((outcome) => outcome.problems),
      ownStores: kind.database(resource) === undefined ? [] : [{ namespace: own.namespace, writer }],
      fleets: fleets.map((source) => {
        return { key: { ...own, source: source.name }, source, writer, state: states[source.name] };
      }),
    };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    // A plan may precede the first sync, which creates the tables of the database.
    if (mode === 'read' && failure.code === 'database-not-migrated') return NOTHING;
    return { ...NOTHING, unreadable: new Map([[key, failure.message]]), failures: [failure] };
  }
}

function statedIn(documents: readonly string[]) {
  return documents.flatMap((document) => provenanceByImage(parseJson(document)));
}

/** Syncs the due sources. For a PersistentVolumeClaim, only stores the trigger, which the registry service reads. */
async function syncSources(
  { ports, clock, inTurn }: SyncDeps,
  registry: RegistrySyncInput,
  own: Omit<SourceKey, 'source'>,
  { writer, states }: { readonly writer: CatalogueWriter; readonly states: CatalogueState },
): Promise<readonly SyncOutcome[]> {
  const { kind, resource, view, trigger } = registry;
  const all = kind.sources(resource).map((source) => asFound(registry, source));
  const mounted = all.filter(isMounted);
  const sources = all.filter((source) => !isMounted(source) && !isOfFleet(source));
  for (const { name } of mounted) {
    if (trigger !== undefined) await writer.leaveTrigger({ ...own, source: name }, trigger);
  }
  const round = { source: ports.sourceFor(view, own.namespace), writer, now: () => clock.now(), inTurn };
  const { beside = waitFor } = ports;
  const outcomes = await Promise.all(
    sources.map((source) => {
      const work = (signal: AbortSignal) => syncRound(round, { registry: own, sources: [source], trigger, signal });
      const isDue = due(source, states[source.name], trigger, clock.now()).due;
      return beside(`${own.namespace}/${own.registry}/${source.name}`, isDue ? work : undefined);
    }),
  );
  await writer.retain(
    own,
    all.map(({ name }) => name),
  );
  return outcomes.flat();
}

/** Never aborts. A sync continues if the run ends early, because each source has its own time limit. */
const NEVER = new AbortController().signal;

const waitFor: NonNullable<RegistryDeps['beside']> = async (_source, work) => work?.(NEVER) ?? [];

function catalogueOutcome(registry: string, { key, result, state, written }: SyncOutcome): CatalogueOutcome {
  return {
    source: `${registry}/${key.source}`,
    action: result,
    servers: state.serverCount,
    rejected: state.rejectedCount,
    written,
    message: state.message,
  };
}
