// Opens everything that one reconciler instance works with, out of its configuration.

import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { keepLists } from '#adapters/cluster/kept/kept-lists.ts';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { HistoryStore } from '#reconciler/run/history/ports.ts';
import { fieldManager } from '#reconciler/run/labels.ts';
import { admitNothing } from '#reconciler/run/plan-file/admission.ts';
import type { Checkout } from '#reconciler/run/ports.ts';
import type { LoadCache } from '#reconciler/run/read/source-file.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { type RunDeps, type RunOptions, reconcile } from '#reconciler/run/run.ts';
import { formatProblem } from '#std/problem.ts';
import { type Trace, UNTRACED } from '#std/telemetry/trace.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { egressFrom } from '../../egress.ts';
import { checkStateFolder } from '../../state-folder.ts';
import { openTracing, type Tracing } from '../../tracing.ts';
import { VERSION } from '../../version.ts';
import { openKept } from '../kept/kept.ts';
import { withDeadline } from '../loop/run-deadline.ts';
import { findOwnImage, RELEASED_IMAGE, withOwnImage } from '../own-image.ts';
import { fleetSource, type PlannedCommits, pinOf } from './fleet-source.ts';
import { type Hurry, inTime, shareOf } from './hurry.ts';
import { openNotifier } from './notifier.ts';
import { openPolicyFiles, policyFiles } from './policy-files.ts';
import { runRecorded } from './recorded-run.ts';
import { openHistory, openRecorder } from './recorder.ts';
import { openStores, registryDeps } from './registries.ts';
import { openPublisher } from './snapshots.ts';
import { readInThread } from './source-thread.ts';
import { type InstanceWatch, withLockWatched, withSourceWatched } from './watch.ts';

export interface Instance {
  readonly deps: RunDeps;
  /** Options of one run; every call makes a new run id. */
  options(overrides?: Partial<RunOptions>): RunOptions;
  readonly history: HistoryStore;
  /** One run, recorded; `how` it goes where it is not `reconcile` as it is. Throws what that throws. */
  run(overrides?: Partial<RunOptions>, how?: typeof reconcile): Promise<RunResult>;
  /** The state as the last run has published it; undefined before the first, and where no one asked for it. */
  snapshot(): string | undefined;
  /** Saves what is kept between runs. */
  save(): Promise<void>;
  close(): Promise<void>;
}

/** Opens an instance for a command of an operator (`cluster.timeoutSeconds`). */
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
  await checkStateFolder(config.stateDir, { ownedByUser: false });
  const policies = await readOwnPolicies(config);
  const tracing = await openTracing(process.env);
  const trace = tracing ?? UNTRACED;
  const cluster = await openCluster(config, watch, tracing, hurry);
  const outbound = openOutbound(config, watch);
  const stores = openStores();
  const homeNamespace = cluster.homeNamespace();
  const publisher = config.snapshot === undefined ? undefined : openPublisher(config);
  const history = openHistory(config, cluster, homeNamespace);
  const ownImage = await findOwnImage(config, cluster, process.env, hurry);
  const digestKey = openDigestKey(cluster, config.name, homeNamespace);
  const { cache, remembered, sound, ...kept } = openKept(config, digestKey, hurry);
  const deps = {
    cluster: withLockWatched(cluster, watch),
    clock: systemClock,
    sources: openSources(config, { outbound, cluster, cache, planned, history, homeNamespace }, watch, hurry, trace),
    // Whoever makes the children of an MCPRegistry reads its sources, too.
    registries: config.children ? registryDeps(config, outbound, stores, watch, hurry.loops?.beside) : undefined,
    cache,
    sound,
    remembered,
    random: randomBytes,
    digestKey,
    ...{ progress, waiting: watch.waiting },
    enough: watch.stopping?.signal,
    looked: publisher?.looked,
    trace,
  };
  const recorder = openRecorder(config, history);
  const notifier = openNotifier(config, cluster, homeNamespace, { outbound, traceParent: tracing?.traceParent });
  const options = (overrides: Partial<RunOptions> = {}) => ({
    ...optionsOf(config, homeNamespace, policies, ownImage?.known()),
    ...overrides,
  });
  return {
    deps,
    options,
    history,
    run(overrides = {}, how = reconcile) {
      const optionsNow = (id?: string) => options({ ...admissionOf(config), ...overrides, ...(id && { id }) });
      const own = optionsNow();
      const looked = withOwnImage(ownImage, how, optionsNow);
      const limited = withDeadline(cluster, config.apply.deadlineSeconds, looked);
      return tracedRun(tracing, watch, own, async () => {
        const result = await runRecorded({ recorder, notifier }, deps, own, limited);
        const warnings = await publisher?.publish(deps, own, result);
        return warnings === undefined ? result : { ...result, warnings: [...result.warnings, ...warnings] };
      }).finally(cache.ended);
    },
    snapshot: () => publisher?.latest(),
    save: () => kept.save(),
    async close() {
      try {
        await kept.close();
      } finally {
        await hurry.loops?.close();
        await Promise.all([cluster.close(), outbound.close(), stores.close(), history.close(), tracing?.close()]);
      }
    },
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

/** Where the process stays they are read beside the runs, and their manifests in threads where it has some. */
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

function openOutbound({ outbound: { allowPrivate, caFile } }: Config, { progressed }: InstanceWatch): Outbound {
  return createOutbound({
    allowPrivate,
    caFile,
    egress: egressFrom(process.env),
    version: VERSION,
    ended: progressed,
  });
}

/** Of the instance's own files, never of what a source declares: no one judges themselves. */
export async function readOwnPolicies({ policies, apiGroup }: Config): Promise<PolicySet | undefined> {
  const opened = await openPolicyFiles(policyFiles(policies, apiGroup));
  for (const warning of opened?.warnings ?? []) process.stderr.write(`${formatProblem(warning)}\n`);
  return opened?.set;
}

async function tracedRun(
  tracing: Tracing | undefined,
  { traced }: InstanceWatch,
  { id, instance }: RunOptions,
  run: () => Promise<RunResult>,
): Promise<RunResult> {
  if (tracing === undefined) return run();
  return tracing.span('run', { 'skep.run.id': id, 'skep.instance': instance }, async () => {
    const traceId = tracing.traceId();
    if (traceId === undefined) return run();
    traced?.(traceId);
    return { ...(await run()), traceId };
  });
}

/** Plan files say themselves what a run may do. */
function admissionOf({ plans }: Config): Pick<RunOptions, 'admit' | 'registriesAs'> {
  if (plans.require === 'unsigned') return {};
  return {
    registriesAs: 'living',
    admit: admitNothing('plans.require is signed: skep apply of a signed plan file makes it'),
  };
}

/** `image`: of the workloads for which the configuration names none. */
export function optionsOf(config: Config, home: string, policies?: PolicySet, image = RELEASED_IMAGE): RunOptions {
  const { proxy = image, vmcp = image, registry = image, pullSecrets } = config.images;
  const { prune, maxDeletes, maxDeletesPercent, waitSeconds, conflicts } = config.apply;
  return {
    id: randomUUID(),
    host: hostname(),
    instance: config.name,
    homeNamespace: home,
    apiGroup: config.apiGroup,
    kinds: KINDS,
    settings: {
      apiGroup: config.apiGroup,
      images: { proxy, vmcp, registry },
      pullSecrets,
      pods: config.pods,
      catalogueDatabase: config.catalogue?.database,
    },
    policies,
    namespaces: config.namespaces,
    scope: config.scope,
    children: config.children,
    prune,
    limits: { maxDeletes, maxDeletesPercent },
    conflicts,
    waitSeconds,
    tooling: `skep/${VERSION}`,
  };
}
