// Provides the fleet for the console and its JSON routes: the state after the last run, and a single resource, which is
// read from the cluster on request.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Actions, Fleet, FleetEvent } from '#reconciler/control/ports.ts';
import { jsonOfFleet, jsonOfResource } from '#reconciler/report/fleet.ts';
import type { LiveDetail } from '#reconciler/run/fleet-state/detail-format.ts';
import { type FleetWatch, openFleetWatch } from '#reconciler/run/fleet-state/fleet-watch.ts';
import type { FleetState } from '#reconciler/run/fleet-state/format.ts';
import { type KnownResource, readLiveDetail, shownManifest } from '#reconciler/run/fleet-state/resource-detail.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { forgeOf } from '../instance/forge.ts';
import type { Instance } from '../instance/instance.ts';
import { createActionRecord, type WriteAudit } from './action-record.ts';
import { openActions } from './actions.ts';
import { readForConsole } from './console-reads.ts';
import { type ReadInTurn, shareReads } from './shared-reads.ts';

/** Receives the events of runs for the console. */
export interface FleetFeed extends Pick<FleetWatch, 'looked'> {
  began(id: string): void;
  ended(result: RunResult): void;
  failed(failure: Failure): void;
  /** Returns the fleet for the routes. `instance` reads single resources. */
  shown(instance: Read): Fleet;
  /** Returns the actions for the routes. `run` requests a run that begins after the call. */
  acting(run: () => void): Actions;
}

type Read = Pick<Instance, 'cluster' | 'options'>;

/** Time that a console waits for the cluster. */
const READ_WITHIN_MS = 10_000;

/** `write` records actions. */
export function openFleetFeed(config: Config, write: WriteAudit): FleetFeed {
  const { name, apiGroup, children } = config;
  const sources = config.sources.map((source) => source.name);
  const watch = openFleetWatch({ instance: name, apiGroup, sources, ours: children });
  const listeners = new Set<(event: FleetEvent) => void>();
  const record = createActionRecord(write);
  let runId = '';
  let isRunning = false;
  const tell = (event: FleetEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const end = (): void => {
    isRunning = false;
    tell('fleet');
    tell('ended');
  };
  return {
    looked: watch.looked,
    began(id) {
      runId = id;
      isRunning = true;
      record.began(id);
      tell('began');
    },
    ended(result) {
      watch.ended(result);
      end();
    },
    failed(failure) {
      watch.failed(failure, { id: runId, at: new Date(systemClock.now()).toISOString() });
      end();
    },
    acting: (run) => openActions({ config, record, waiting: watch.waiting, run }),
    shown(instance) {
      const readInTurn = shareReads<LiveDetail>(systemClock, READ_WITHIN_MS);
      return {
        state: rememberText(watch.state),
        resource: (id) => readShown(config, watch, (known, runId) => readLive(readInTurn, instance, known, runId), id),
        follow(notify) {
          listeners.add(notify);
          if (isRunning) notify('began');
          return () => void listeners.delete(notify);
        },
      };
    },
  };
}

/** Renders each state once, also if many consoles request it. */
function rememberText(state: () => FleetState): Fleet['state'] {
  let last: { readonly state: FleetState; readonly text: string; readonly tag: string } | undefined;
  return () => {
    const now = state();
    if (last?.state !== now) {
      const text = jsonOfFleet(now);
      last = { state: now, text, tag: sha256(text).slice(0, 16) };
    }
    return last;
  };
}

async function readShown(
  config: Config,
  watch: FleetWatch,
  live: (known: KnownResource, runId: string) => ReturnType<typeof readLive>,
  id: string,
): Promise<string | undefined> {
  const known = watch.find(id);
  if (known === undefined) return undefined;
  const { source } = known.loaded ?? {};
  const { id: runId = '', commits = {} } = watch.state().run ?? {};
  const commit = source === undefined ? undefined : commits[source];
  return jsonOfResource(known, {
    manifest: known.loaded && shownManifest(known.loaded),
    commit,
    commitUrl: commitUrl(config, source, commit),
    ...(await live(known, runId)),
  });
}

/** Reads the live resource, or returns why it could not be read in time. Runs are not delayed. */
async function readLive(
  readInTurn: ReadInTurn<LiveDetail>,
  { cluster, options }: Read,
  known: KnownResource,
  runId: string,
): Promise<{ readonly live: LiveDetail } | { readonly unread: string }> {
  try {
    const key = `${runId} ${keyOf(known.id)}`;
    const live = await readInTurn(key, () => readForConsole(() => readLiveDetail(cluster, options(), known)));
    return live === undefined ? { unread: `the cluster did not answer within ${READ_WITHIN_MS / 1000} s` } : { live };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { unread: error.message };
  }
}

function commitUrl(config: Config, source: string | undefined, commit: string | undefined): string | undefined {
  const repository = config.sources.find(({ name }) => name === source)?.repository;
  if (repository === undefined || commit === undefined) return undefined;
  const forge = forgeOf(repository, config.outbound.allowFiles);
  return forge === undefined ? undefined : `${forge.origin}/${forge.path}/commit/${commit}`;
}
