// What a node needs of its surroundings: the objects of the cluster, the time, and what images stand for.

import type { Owner } from '../controllers/owners.ts';
import type { Container, Data, Metadata, Pod, PodSpec, Service } from './objects.ts';
import type { LocalCommand } from './process-groups.ts';

export interface NodeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface NodeApi {
  /** Those that this node runs. */
  pods(): Promise<readonly Pod[]>;
  /** Undefined where there is none. */
  data(plural: 'configmaps' | 'secrets', namespace: string, name: string): Promise<Data | undefined>;
  service(namespace: string, name: string): Promise<Service | undefined>;
  /** The files of the pod's service account. Undefined: it mounts none. */
  account(pod: Pod): Promise<AccountFiles | undefined>;
  /** The controllers of an object, the nearest one first, as far as each exists. */
  owners(object: { readonly metadata: Metadata }): Promise<readonly Owner[]>;
  /** Of a pod that may be gone meanwhile. */
  writeStatus(pod: Pod, status: object): Promise<void>;
  /** Ends a deletion that waits for the node. */
  remove(pod: Pod): Promise<void>;
  recordEvent(pod: Pod, event: NodeEvent): Promise<void>;
  /** Calls back where pods may have changed, and where what they mount has. Answers the function that ends it. */
  follow(pods: () => void, mounted: () => void): () => void;
}

export interface AccountFiles {
  readonly token: string;
  /** PEM of the authority of the API server. */
  readonly authority: string;
  /** Milliseconds since 1970: another token is needed from then on. */
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
  /** The port of this machine in place of one of the container. */
  port(containerPort: number): number;
  /** The port of 127.0.0.1 for one of a Service, which need not be there yet. */
  service(namespace: string, name: string, port: number): Promise<number>;
  /** URL of the API server on this machine. */
  apiServer(): string;
}

/** Stands for the entry point of an image; the arguments of the container follow. */
export type EntryPoint = readonly [string, ...string[]];

/** Runs a command of this machine to its end. Throws an Error with its last words where it fails, or the pod is stopped. */
export type RunToEnd = (command: LocalCommand) => Promise<void>;

/** What runs in place of an image. */
export interface Program {
  /** A function prepares it before each run, for instance by installing it; if it throws, it is called again, later each time. */
  readonly command: EntryPoint | ((run: RunToEnd, place: ProcessPlace) => Promise<EntryPoint>);
  /** Values of variables for a container alone: they are left out without an Event. */
  readonly expected?: Readonly<Record<string, string>>;
  /** Variables in addition to those that the pod declares; they win. */
  environment?(pod: Pod): Promise<Readonly<Record<string, string>>>;
  /** Returns a file of a ConfigMap as it has to be on this machine. If it throws, the container waits, or keeps the file that it has. */
  adaptFile?(name: string, text: string, place: AdaptedFor): Promise<string>;
}

/** The folders of a process. */
export interface ProcessPlace {
  /** Everything that its pod mounts, and its home. The process owns nothing else on this machine. */
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

/** `owners`: the controllers of the pod, the nearest one first. */
export type FindProgram = (container: Container, pod: PodSpec, owners: readonly Owner[]) => Program | NotHere;
