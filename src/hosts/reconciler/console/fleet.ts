// Provides the fleet for the console and its JSON routes: the state after the last run, and a single resource, which is
// read from the cluster on request.

import type { Actions, Fleet, FleetEvent } from '#reconciler/control/ports.ts';
import { jsonOfFleet, jsonOfLogs, jsonOfReadings, jsonOfResource } from '#reconciler/report/fleet.ts';
import { type FleetWatch, openFleetWatch } from '#reconciler/run/fleet-state/fleet-watch.ts';
import type { FleetState } from '#reconciler/run/fleet-state/format.ts';
import { type KnownResource, shownManifest } from '#reconciler/run/fleet-state/resource-detail.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { forgeOf } from '../instance/forge.ts';
import { commitPage, filePage } from '../instance/forge-pages.ts';
import { createActionRecord, type WriteAudit } from './action-record.ts';
import { openActions } from './actions.ts';
import { openResourceReads, type ReadInstance, type ResourceReads } from './resource-reads.ts';

/** Receives the events of runs for the console. */
export interface FleetFeed extends Pick<FleetWatch, 'looked'> {
  began(id: string): void;
  ended(result: RunResult): void;
  failed(failure: Failure): void;
  /** Returns the fleet for the routes. `instance` reads single resources. */
  shown(instance: ReadInstance): Fleet;
  /** Returns the actions for the routes. `run` requests a run that begins after the call. */
  acting(run: () => void): Actions;
}

type ShownRun = Partial<NonNullable<FleetState['run']>>;

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
      const reads = openResourceReads(instance);
      /** Reads a part of the resource of an id, if the last run knew it. */
      const about = (read: (known: KnownResource, run: ShownRun) => Promise<string>) => async (id: string) => {
        const known = watch.find(id);
        return known && read(known, watch.state().run ?? {});
      };
      return {
        state: rememberText(watch.state),
        resource: about((known, run) => readShown(config, known, run, reads)),
        logs: about(async (known, { id = '' }) => jsonOfLogs(known.id, await reads.logs(known, id))),
        readings: about(async (known, { id = '' }) => jsonOfReadings(known.id, await reads.readings(known, id))),
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
  let last: { readonly state: FleetState; readonly text: Buffer; readonly tag: string } | undefined;
  return () => {
    const now = state();
    if (last?.state !== now) {
      const text = jsonOfFleet(now);
      last = { state: now, text: Buffer.from(text), tag: sha256(text).slice(0, 16) };
    }
    return last;
  };
}

async function readShown(
  config: Config,
  known: KnownResource,
  { id: runId = '', commits = {} }: ShownRun,
  reads: ResourceReads,
): Promise<string> {
  const { loaded } = known;
  const { source } = loaded ?? {};
  const commit = source === undefined ? undefined : commits[source];
  const live = await reads.live(known, runId);
  return jsonOfResource(known, {
    manifest: loaded && shownManifest(loaded),
    commit,
    ...pagesOf(config, loaded, commit),
    ...('unread' in live ? live : { live }),
  });
}

interface ForgePages {
  readonly commitUrl?: string;
  readonly fileUrl?: string;
}

/** Returns the pages of a commit, and of the line of a manifest, at the Git host of the source. */
function pagesOf(config: Config, loaded: KnownResource['loaded'], commit: string | undefined): ForgePages {
  const repository = config.sources.find(({ name }) => name === loaded?.source)?.repository;
  if (repository === undefined || commit === undefined || loaded === undefined) return {};
  const forge = forgeOf(repository, config.outbound.allowFiles);
  if (forge === undefined) return {};
  const { file, line } = loaded.place('');
  return { commitUrl: commitPage(forge, commit), fileUrl: filePage(forge, commit, file, line) };
}
