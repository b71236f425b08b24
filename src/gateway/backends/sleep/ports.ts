// Defines the ports of a server that sleeps: the number of its pods in the cluster, time, and reports.

import type { Backend } from '../backend.ts';
import type { BackendClock } from '../ports.ts';

interface PodCount {
  /** Number of pods that the StatefulSet should have. */
  readonly declared: number;
  /** Number of pods that exist, those included that still end. */
  readonly existing: number;
}

interface ProxyCount {
  readonly pods: number;
  /** Changes whenever pods of the Deployment of the proxy are created, become ready or end. */
  readonly version: string;
}

/** All functions reject with a Failure. */
export interface ServerScale {
  read(): Promise<PodCount>;
  declare(pods: number): Promise<void>;
  /** Counts the pods of the Deployment of the proxy itself. */
  countProxies(): Promise<ProxyCount>;
}

export interface SleepObserver {
  fellAsleep(): void;
  /** Notes that the server runs again, after a time since the first call that waited for it. */
  woke(ms: number): void;
  /** Notes that a call no longer waits: the server runs, was not started in time, or the client has gone. */
  waited(ms: number, outcome: 'started' | 'not-started' | 'client-gone'): void;
  log(level: 'info' | 'warn', message: string): void;
}

interface SleepTimes {
  /** Time without calls and open streams after which the server is stopped. */
  readonly afterMs: number;
  /** Longest time that a call waits for the start of the server. */
  readonly wakeMs: number;
}

export interface SleepParts {
  /** Opens the server, with no connection and no session of its earlier runs. */
  readonly open: () => Promise<Backend>;
  /** Rejects with a Failure while no process of the server runs. If absent, only the server itself can tell. */
  readonly check?: () => Promise<void>;
  readonly scale: ServerScale;
  readonly clock: BackendClock;
  readonly observer: SleepObserver;
  readonly times: SleepTimes;
}
