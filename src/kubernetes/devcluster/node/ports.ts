// Defines the interfaces of a node's dependencies: the objects of the cluster, the clock, and the programs for images.

import type { Owner } from '../controllers/owners.ts';
import type { Container, Data, Metadata, Pod, PodSpec, Service } from './objects.ts';
import type { LocalCommand } from './process-groups.ts';

export interface NodeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface NodeApi {
  /** Returns the pods that this node runs. */
  pods(): Promise<readonly Pod[]>;
  /** Returns undefined if the object does not exist. */
  data(plural: 'configmaps' | 'secrets', namespace: string, name: string): Promise<Data | undefined>;
  service(namespace: string, name: string): Promise<Service | undefined>;
  /** Returns the files of the pod's service account, or undefined if the pod mounts no account. */
  account(pod: Pod): Promise<AccountFiles | undefined>;
  /** Returns the controllers of an object, the nearest first, up to the first that does not exist. */
  owners(object: { readonly metadata: Metadata }): Promise<readonly Owner[]>;
  /** Writes the status of a pod that may have been deleted meanwhile. */
  writeStatus(pod: Pod, status: object): Promise<void>;
  /** Finishes a deletion that waits for the node. */
  remove(pod: Pod): Promise<void>;
  recordEvent(pod: Pod, event: NodeEvent): Promise<void>;
  /**
   * Calls `pods` when pods may have changed, and `mounted` when mounted objects may have changed. Returns a function
   * that stops the calls.
   */
  follow(pods: () => void, mounted: () => void): () => void;
}

export interface AccountFiles {
  readonly token: string;
  /** PEM of the authority of the API server. */
  readonly authority: string;
  /** Time from which the token has to be renewed, in milliseconds since 1970. */
  readonly renewAt: number;
}

export interface NodeClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Maps addresses inside the cluster to addresses on this machine. */
export interface Addresses {
  /** Returns the port of this machine for a port of the container. */
  port(containerPort: number): number;
  /** Returns the port of 127.0.0.1 for a port of a Service, which may not exist yet. */
  service(namespace: string, name: string, port: number): Promise<number>;
  /** Returns the URL of the API server on this machine. */
  apiServer(): string;
}

/** The command in place of the entry point of an image. The arguments of the container follow. */
export type EntryPoint = readonly [string, ...string[]];

/**
 * Runs a command of this machine to its end. Throws an Error with its last output if it fails or the pod is stopped.
 */
export type RunToEnd = (command: LocalCommand) => Promise<void>;

/** The program that runs in place of an image. */
export interface Program {
  /**
   * The command, or a function that prepares it before each run, for instance by installing it. If the function throws,
   * it is called again, with growing waits.
   */
  readonly command: EntryPoint | ((run: RunToEnd, place: ProcessPlace) => Promise<EntryPoint>);
  /** Values of variables that matter only inside a container. They are left out without an Event. */
  readonly expected?: Readonly<Record<string, string>>;
  /** Returns variables in addition to the variables of the pod, which they override. */
  environment?(pod: Pod): Promise<Readonly<Record<string, string>>>;
  /**
   * Returns a file of a ConfigMap, adapted to this machine. If it throws, the container waits, or keeps the file that
   * it has.
   */
  adaptFile?(name: string, text: string, place: AdaptedFor): Promise<string>;
}

/** The folders of a process. */
export interface ProcessPlace {
  /** The mounts of its pod, and its home. The process has no other folders on this machine. */
  readonly folders: readonly string[];
}

export interface AdaptedFor {
  readonly pod: Pod;
  readonly addresses: Addresses;
  /** The controllers of the pod, the nearest one first. */
  readonly owners: readonly Owner[];
  /** The controllers of the ConfigMap that has the file, the nearest one first. */
  readonly fileOwners: readonly Owner[];
}

export interface NotHere {
  /** Why the image does not run on this machine. */
  readonly absent: string;
}

/** Finds the program for an image. `owners` are the controllers of the pod, the nearest first. */
export type FindProgram = (container: Container, pod: PodSpec, owners: readonly Owner[]) => Program | NotHere;
