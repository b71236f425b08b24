// Opens all parts of a reconciler instance from the instance's configuration.

import { randomBytes } from 'node:crypto';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { keepLists } from '#adapters/cluster/kept/kept-lists.ts';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { type DigestKey, openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { HistoryStore } from '#reconciler/run/history/ports.ts';
import { fieldManager } from '#reconciler/run/labels.ts';
import type { Checkout } from '#reconciler/run/ports.ts';
import type { LoadCache } from '#reconciler/run/read/source-file.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { RunDeps, RunOptions } from '#reconciler/run/run.ts';
import { formatProblem } from '#std/problem.ts';
import { type Trace, UNTRACED } from '#std/telemetry/trace.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { refuseDevCluster } from '../../config/dev-cluster.ts';
import { imagePolicyOf } from '../../config/image-policy.ts';
import { egressFrom } from '../../egress.ts';
import { checkStateFolder } from '../../state-folder.ts';
import { openTracing, type Tracing } from '../../tracing.ts';
import { VERSION } from '../../version.ts';
import { openImageVerifier } from '../images/image-verifier.ts';
import { openKept } from '../kept/kept.ts';
import { findOwnImage } from '../own-image.ts';
import { fleetSource, type PlannedCommits, pinOf } from './fleet-source.ts';
import { type Hurry, inTime, shareOf } from './hurry.ts';
import { openNotifier } from './notifier.ts';
import { openPolicyFiles, policyFiles } from './policy-files.ts';
import { openHistory, openRecorder } from './recorder.ts';
import { openStores, registryDeps } from './registries.ts';
import { openRepeatedRuns, type RepeatedRuns } from './runs/repeated-run.ts';
import { optionsOf } from './runs/run-options.ts';
import { openRepeat, openRunner, type Run } from './runs/runner.ts';
import { openPublisher, type SnapshotPublisher } from './snapshots.ts';
import { readInThread } from './source-thread.ts';
import { type InstanceWatch, withLockWatched, withSourceWatched } from './watch.ts';

export interface Instance {
  readonly deps: RunDeps;
  /** Cluster for reads outside of runs. Reads through `deps.cluster` are recorded as reads of the run. */
  readonly cluster: Pick<ConnectedCluster, 'get' | 'list' | 'schema' | 'resources' | 'podReads'>;
  /** Returns the options of a run. Every call creates a new run id. */
  options(overrides?: Partial<RunOptions>): RunOptions;
  readonly history: HistoryStore;
  readonly run: Run;
  /**
   * Returns the result of the last run if a new run would read the same data. Returns undefined if a new run is
   * necessary.
   */
  repeat(id: string): Promise<RunResult | undefined>;
  /** Makes the next run compute all results again. Calls `differs` for each stored result that is wrong. */
  prove(differs: (stage: string, key: string) => void): void;
  /** Returns the last published state; undefined before the first run, or if skep.yaml configures no snapshot. */
  snapshot(): string | undefined;
  /** Saves data for later processes. */
  save(): Promise<void>;
  close(): Promise<void>;
}

/** Opens an instance for an operator's command, limited to `cluster.timeoutSeconds`. */
export function openForOperator(config: Config): Promise<Instance> {
  const withinMs = config.cluster.timeoutSeconds * 1000;
  return openInstance(config, () => undefined, {}, undefined, { withinMs });
}

export async function openInstance(
  config: Config,
  progress: RunDeps['progress'],
  watch: InstanceWatch = {},
  planned: PlannedCommits | undefined = undefined,
  hurry: Hurry = {},
): Promise<Instance> {
  refuseDevCluster(config, process.env);
  await checkStateFolder(config.stateDir, { ownedByUser: false });
  const policies = await readOwnPolicies(config);
  const tracing = await openTracing(process.env);
  const repeated = openRepeatedRuns(
    await openCluster(config, watch, tracing, hurry),
    systemClock,
    hurry,
    // Runs with a catalogue and runs that verify images are never repeated, because registries and tags can change.
    config.catalogue ?? imagePolicyOf(config.images),
  );
  const { cluster, connected } = repeated;
  const outbound = openOutbound(config, watch);
  const stores = openStores();
  const homeNamespace = cluster.homeNamespace();
  const publisher = config.snapshot === undefined ? undefined : openPublisher(config);
  const history = openHistory(config, connected, homeNamespace);
  const ownImage = await findOwnImage(config, cluster, process.env, hurry);
  const digestKey = openDigestKey(cluster, config.name, homeNamespace);
  const { memory, ...kept } = openKept(config, digestKey, hurry, openImageVerifier(config, outbound, connected));
  const places = { outbound, stores, history, homeNamespace, publisher, digestKey, memory };
  const deps = runDeps({ config, watch, hurry, tracing, repeated, planned, progress, ...places });
  const recorder = openRecorder(config, history);
  const notifier = openNotifier(config, connected, homeNamespace, { outbound, traceParent: tracing?.traceParent });
  const options = (overrides: Partial<RunOptions> = {}) => ({
    ...optionsOf(config, homeNamespace, policies, ownImage?.known()),
    ...overrides,
  });
  const running = { config, deps, options, cluster, ownImage, tracing, watch, recorder, notifier, publisher, repeated };
  return {
    deps,
    cluster: connected,
    options,
    history,
    run: openRunner(running, kept.ended),
    repeat: openRepeat(running),
    prove: (differs) => memory.reuse?.prove(differs),
    snapshot: () => publisher?.latest(),
    save: () => kept.save(),
    close: () => closeInOrder(kept, hurry.loops, [cluster, outbound, stores, history, tracing]),
  };
}

interface Opened {
  readonly config: Config;
  readonly watch: InstanceWatch;
  readonly hurry: Hurry;
  readonly tracing: Tracing | undefined;
  readonly outbound: Outbound;
  readonly stores: ReturnType<typeof openStores>;
  readonly history: HistoryStore;
  readonly homeNamespace: string;
  readonly publisher: SnapshotPublisher | undefined;
  readonly digestKey: DigestKey;
  readonly memory: ReturnType<typeof openKept>['memory'];
  readonly repeated: RepeatedRuns;
  readonly planned: PlannedCommits | undefined;
  readonly progress: RunDeps['progress'];
}

function runDeps({ config, watch, hurry, tracing, outbound, stores, memory, repeated, ...opened }: Opened): RunDeps {
  const trace = tracing ?? UNTRACED;
  const { cluster } = repeated;
  const { planned, history, homeNamespace, publisher, digestKey, progress } = opened;
  const by = { outbound, cluster, cache: memory.cache, planned, history, homeNamespace };
  return {
    cluster: withLockWatched(cluster, watch),
    clock: systemClock,
    sources: repeated.notingSources(openSources(config, by, watch, hurry, trace)),
    // Registry sources are read by the process that creates the children of MCPRegistries.
    registries: config.children ? registryDeps(config, outbound, stores, watch, hurry.loops?.beside) : undefined,
    ...memory,
    random: randomBytes,
    digestKey,
    ...{ progress, waiting: watch.waiting, enough: watch.stopping?.signal },
    looked: lookedBy(repeated, publisher, watch),
    trace,
  };
}

interface Closable {
  close(): Promise<void>;
}

async function closeInOrder(kept: Closable, loops: Hurry['loops'], opened: readonly (Closable | undefined)[]) {
  try {
    await kept.close();
  } finally {
    await loops?.close();
    await Promise.all(opened.map((each) => each?.close()));
  }
}

function lookedBy(...observers: readonly (Pick<RunDeps, 'looked'> | undefined)[]): RunDeps['looked'] {
  return (prepared) => {
    for (const each of observers) each?.looked?.(prepared);
  };
}

interface Sources {
  readonly outbound: Outbound;
  readonly cluster: ConnectedCluster;
  readonly cache: LoadCache;
  readonly planned: PlannedCommits | undefined;
  readonly history: HistoryStore;
  readonly homeNamespace: string;
}

/**
 * Opens the sources. With `loops`, they are read in parallel with runs. With `threads`, threads read their manifests.
 */
function openSources(
  config: Config,
  { cluster, cache, ...by }: Sources,
  watch: InstanceWatch,
  hurry: Hurry,
  trace: Trace,
) {
  const { loops, threads, alone } = hurry;
  const reading = { kinds: KINDS, apiGroup: config.apiGroup, cache, cluster };
  return config.sources.map((source) => {
    const pin = pinOf(by.planned, source.name, by.history);
    const named = fleetSource(config, source, by.outbound, pin, by.homeNamespace, cluster);
    const opened = alone === true ? { ...named, origin: undefined } : named;
    const watched = withSourceWatched(inTime(opened, hurry), watch, trace);
    if (loops === undefined) return watched;
    const { ageKeyFile } = source.decryption ?? {};
    const read = (checkout: Checkout) => readInThread(reading, { ...opened, ageKeyFile }, checkout);
    return loops.over(watched, threads === true ? read : undefined);
  });
}

async function openCluster(
  { name, cluster: { kubeconfig, context, concurrency } }: Config,
  { requested }: InstanceWatch,
  tracing: Tracing | undefined,
  { withinMs, endsWithinMs, keepsLists }: Hurry,
): Promise<ConnectedCluster> {
  const connected = await connectCluster({
    ...{ usual: process.env.KUBECONFIG ?? '', kubeconfig, context },
    observe: requested,
    traceParent: tracing?.traceParent,
    fieldManager: fieldManager(name),
    concurrency,
    version: VERSION,
    clock: systemClock,
    withinMs: withinMs ?? endsWithinMs,
    timeoutMs: withinMs === undefined ? undefined : shareOf(withinMs),
  });
  return keepsLists === undefined ? connected : keepLists(connected, { ...keepsLists, clock: systemClock });
}

/** Opens connections to servers outside of the cluster, with the trust and the limits of the configuration. */
export function openOutbound(
  { outbound: { allowPrivate, caFile } }: Config,
  { progressed }: InstanceWatch = {},
): Outbound {
  return createOutbound({
    allowPrivate,
    caFile,
    egress: egressFrom(process.env),
    version: VERSION,
    ended: progressed,
  });
}

/** Reads policies only from the instance's own files, so that a source cannot change the policies that apply to it. */
export async function readOwnPolicies({ policies, apiGroup }: Config): Promise<PolicySet | undefined> {
  const opened = await openPolicyFiles(policyFiles(policies, apiGroup));
  for (const warning of opened?.warnings ?? []) process.stderr.write(`${formatProblem(warning)}\n`);
  return opened?.set;
}
