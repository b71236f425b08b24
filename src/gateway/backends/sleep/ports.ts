// Defines the ports of a server that sleeps: the number of its pods in the cluster, time, and reports.

import type { Backend } from '../backend.ts';
import type { BackendClock } from '../ports.ts';

interface PodCount {
  /** Number of pods that the StatefulSet should have. */
  readonly declared: number;
  /** Number of existing pods, including pods that are still ending. */
  readonly existing: number;
}

interface ProxyCount {
  readonly pods: number;
  /** Changes when a pod of the proxy's Deployment is created, becomes ready or ends. */
  readonly version: string;
}

/** All functions reject with a Failure. */
export interface ServerScale {
  read(): Promise<PodCount>;
  declare(pods: number): Promise<void>;
  /** Counts the pods of the proxy's own Deployment. */
  countProxies(): Promise<ProxyCount>;
}

export interface SleepObserver {
  fellAsleep(): void;
  /** Reports that the server runs again. `ms` is the time since the first call that waited for the server. */
  woke(ms: number): void;
  /** Reports that a call no longer waits: the server runs, did not start in time, or the client has disconnected. */
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
  /** Opens a backend for a new run of the server, without connections and sessions of earlier runs. */
  readonly open: () => Promise<Backend>;
  /**
   * Rejects with a Failure while no process of the server runs. If absent, only a probe of the server shows whether it
   * runs.
   */
  readonly check?: () => Promise<void>;
  readonly scale: ServerScale;
  readonly clock: BackendClock;
  readonly observer: SleepObserver;
  readonly times: SleepTimes;
}
