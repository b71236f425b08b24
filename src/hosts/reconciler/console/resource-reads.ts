// Reads single resources from the cluster for the console: few at a time, each once for all who open it, and in a
// bounded time. Runs are not delayed.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { ShownReadings } from '#reconciler/report/fleet.ts';
import type { LiveDetail } from '#reconciler/run/fleet-state/detail-format.ts';
import type { Logs } from '#reconciler/run/fleet-state/pods/format.ts';
import { readLogs } from '#reconciler/run/fleet-state/pods/logs.ts';
import { readReadings } from '#reconciler/run/fleet-state/pods/readings.ts';
import { trafficOf } from '#reconciler/run/fleet-state/pods/traffic.ts';
import { type KnownResource, readLiveDetail } from '#reconciler/run/fleet-state/resource-detail.ts';
import type { PodReads } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../../clock.ts';
import type { Instance } from '../instance/instance.ts';
import { readForConsole } from './console-reads.ts';
import { shareReads } from './shared-reads.ts';
import { openTrafficMemory, type TrafficMemory } from './traffic-memory.ts';

export type ReadInstance = Pick<Instance, 'cluster' | 'options'>;

interface Unread {
  /** Reason why it could not be read in time. */
  readonly unread: string;
}

export interface ResourceReads {
  live(known: KnownResource, runId: string): Promise<LiveDetail | Unread>;
  logs(known: KnownResource, runId: string): Promise<Logs | Unread>;
  readings(known: KnownResource, runId: string): Promise<ShownReadings | Unread>;
}

const ENCRYPTED: Unread = { unread: 'its manifest is encrypted in Git, and its values could be in its logs' };

/** Time that a console waits for the cluster. */
const READ_WITHIN_MS = 10_000;

export function openResourceReads({ cluster, options }: ReadInstance): ResourceReads {
  const podReads = { ...cluster.podReads, events: rememberEvents(cluster.podReads.events) };
  const reading = { ...cluster, podReads };
  const memory = openTrafficMemory();
  return {
    live: createReader((known) => readLiveDetail(reading, options(), known)),
    logs: createReader(
      async (known): Promise<Logs | Unread> =>
        known.loaded?.sealed === true ? ENCRYPTED : readLogs(cluster, podReads, known),
    ),
    readings: createReader((known) => readTraffic(cluster, known, memory)),
  };
}

/** Time for which Events of a namespace are used again: consoles read many of its resources after each run. */
const EVENTS_AGE_MS = 3000;

/** Reads the Events of a namespace once for all resources that are read at about the same time. */
function rememberEvents(read: PodReads['events']): PodReads['events'] {
  const known = new Map<string, ReturnType<typeof read>>();
  return (namespace) => {
    const found = known.get(namespace);
    if (found !== undefined) return found;
    const reading = read(namespace);
    known.set(namespace, reading);
    setTimeout(() => known.delete(namespace), EVENTS_AGE_MS).unref();
    return reading;
  };
}

type Reader<T> = (known: KnownResource, runId: string) => Promise<T | Unread>;

function createReader<T>(read: (known: KnownResource) => Promise<T>): Reader<T> {
  const readInTurn = shareReads<T>(systemClock, READ_WITHIN_MS);
  return async (known, runId) => {
    try {
      const found = await readInTurn(`${runId} ${keyOf(known.id)}`, () => readForConsole(() => read(known)));
      return found ?? { unread: `the cluster did not answer within ${READ_WITHIN_MS / 1000} s` };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { unread: error.message };
    }
  };
}

async function readTraffic(
  cluster: ReadInstance['cluster'],
  known: KnownResource,
  memory: TrafficMemory,
): Promise<ShownReadings> {
  const { samples, ...read } = await readReadings(cluster, cluster.podReads, known);
  if (samples.length === 0) return read;
  const now = { at: systemClock.now(), samples };
  return { ...read, traffic: trafficOf(now, memory.compared(keyOf(known.id), now)) };
}
