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
  pods(): Promise<readonly Pod[]>;
  /** Returns undefined if the object does not exist. */
  data(plural: 'configmaps' | 'secrets', namespace: string, name: string): Promise<Data | undefined>;
  service(namespace: string, name: string): Promise<Service | undefined>;
  /** Returns the files of the pod's service account. undefined if the pod mounts no account. */
  account(pod: Pod): Promise<AccountFiles | undefined>;
  /**
   * Returns the chain of controllers of an object, nearest first. The chain ends before a controller that does not
   * exist.
   */
  owners(object: { readonly metadata: Metadata }): Promise<readonly Owner[]>;
  /** Writes the status of a pod. Does nothing if the pod was deleted. */
  writeStatus(pod: Pod, status: object): Promise<void>;
  /** Finishes a deletion that waits for the node. */
  remove(pod: Pod): Promise<void>;
  recordEvent(pod: Pod, event: NodeEvent): Promise<void>;
  /**
   * Calls `pods` when pods may have changed, and `mounted` when mounted objects may have changed. The returned function
   * stops the calls.
   */
  follow(pods: () => void, mounted: () => void): () => void;
}

export interface AccountFiles {
  readonly token: string;
  /** CA certificate of the API server as PEM. */
  readonly authority: string;
  /** Time in milliseconds since 1970 after which the token must be renewed. */
  readonly renewAt: number;
}

export interface NodeClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Maps addresses of the cluster to addresses of this machine. */
export interface Addresses {
  port(containerPort: number): number;
  /** Returns the port of 127.0.0.1 for a port of a Service. The Service need not exist yet. */
  service(namespace: string, name: string, port: number): Promise<number>;
  /** Returns the URL of the API server for processes of this machine. */
  apiServer(): string;
}

/** The command that replaces the entry point of an image. The container's arguments are appended. */
export type EntryPoint = readonly [string, ...string[]];

/**
 * Runs a command on this machine and resolves when the command ends. If the command fails or the pod is stopped, throws
 * an Error with the last output of the command.
 */
export type RunToEnd = (command: LocalCommand) => Promise<void>;

/** The program that runs instead of an image. */
export interface ImageProgram {
  /**
   * The command, or a function that prepares it before each run, such as by installing it. If the function throws, it
   * is called again with growing delays.
   */
  readonly command: EntryPoint | ((run: RunToEnd, place: ProcessPlace) => Promise<EntryPoint>);
  /**
   * Variables that have an effect only inside a container, with their usual values. They are dropped without an Event.
   */
  readonly expected?: Readonly<Record<string, string>>;
  /** Returns additional variables. They override the variables of the pod. */
  environment?(pod: Pod): Promise<Readonly<Record<string, string>>>;
  /** Adapts a file of a ConfigMap to this machine. If it throws, the container waits, or keeps the existing file. */
  adaptFile?(name: string, text: string, place: AdaptedFor): Promise<string>;
}

export interface ProcessPlace {
  /** The mounts of the pod, and the home folder. The process has no other folders. */
  readonly folders: readonly string[];
}

export interface AdaptedFor {
  readonly pod: Pod;
  readonly addresses: Addresses;
  /** The chain of controllers of the pod, nearest first. */
  readonly owners: readonly Owner[];
  /** The chain of controllers of the ConfigMap that contains the file, nearest first. */
  readonly fileOwners: readonly Owner[];
}

export interface NotHere {
  /** The reason why this machine does not run the image. */
  readonly absent: string;
}

/** Finds the program for an image. `owners` is the chain of controllers of the pod, nearest first. */
export type FindProgram = (container: Container, pod: PodSpec, owners: readonly Owner[]) => ImageProgram | NotHere;
