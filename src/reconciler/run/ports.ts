// Declares the dependencies of a run: repositories to read, a cluster to compare with and write to, a clock, a lock.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import type { Failure } from '#std/failure.ts';
import type { Json, JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { TokenIssuer } from '../kinds/kind.ts';

export interface RepositoryFile {
  /** Path inside the repository, `/`-separated, without a leading slash. */
  readonly path: string;
  /** Git blob id: equal ids mean equal content. */
  readonly oid: string;
}

export interface Checkout {
  /** Full commit id. */
  readonly commit: string;
  /** All regular files of the commit, sorted by path. Symlinks and submodules are left out; `skipped` lists them. */
  readonly files: readonly RepositoryFile[];
  /** Reason if the ref could not be read this time. The checkout is then the commit that the ref named last. */
  readonly stale?: Failure;
  readonly skipped: readonly { readonly path: string; readonly reason: 'symlink' | 'submodule' }[];
  /** Returns the contents of the given blobs, by oid. */
  read(oids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}

export interface Repository {
  /**
   * Fetches the commit that the configured ref names now. Cheap if the commit has not changed: then only the refs are
   * requested. Throws Failure `git-unreachable`, `git-auth-required`, `git-ref-not-found`, `git-not-a-repository`; the
   * message contains the URL (never its credentials). Earlier checkouts stay usable.
   */
  fetch(): Promise<Checkout>;
  /**
   * Returns the commit with this full id, whatever the ref names now, from an earlier fetch if the commit is still
   * stored. Throws Failure as `fetch` does, and `git-ref-not-found` if the commit no longer exists.
   */
  at(commit: string): Promise<Checkout>;
  /** Returns the ids of at most `count` ancestors, nearest first; fewer if the history is not available. */
  ancestors(commit: string, count: number): Promise<readonly string[]>;
}

/** An entry of the cluster's discovery. */
export interface ApiResource {
  /** `v1`, `apps/v1`, ... */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface ApplyOptions {
  /** If set, the server checks everything and stores nothing. */
  readonly dryRun?: boolean;
  /** `status` writes the status subresource. */
  readonly subresource?: 'status';
  /** If set, the apply takes fields over from other managers. Otherwise a conflict is Failure `cluster-conflict`. */
  readonly force: boolean;
  /** User whose rights apply instead of the rights of the reconciler. */
  readonly as?: string;
}

/** One operation of a JSON patch, as far as the run uses RFC 6902. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Json;
}

/** Selects objects of a kind. Without options, all objects are listed. */
export interface ListOptions {
  /** `metadata`: only the metadata of all objects is read (Kubernetes API Concepts, "Metadata-only fetches"). */
  readonly only?: 'metadata';
  /** A label selector. */
  readonly selector?: string;
  /** Set if each run lists the kind: a long-lived process may respond from a list that a watch keeps current. */
  readonly kept?: true;
  /** Set if each object may be as large as the server accepts: then pages are bounded by bytes. */
  readonly large?: true;
  /** Returns true for objects to keep. All other objects are dropped after each page. */
  readonly keep?: (object: KubeObject) => boolean;
  /**
   * Returns the object to keep instead of the read object: an equal object, or one without fields that its reader never
   * uses.
   */
  readonly hold?: (object: KubeObject) => KubeObject;
}

export type PatchOptions = Pick<ApplyOptions, 'dryRun' | 'as'>;

/**
 * Client of one Kubernetes API. Objects are passed verbatim in both directions. Every method throws Failure:
 * `cluster-unreachable` (connection, TLS, timeout), `cluster-unauthorized` (401), `cluster-forbidden` and
 * `cluster-namespace-leaving` (403), `cluster-not-found` (404), `cluster-conflict` (409), `cluster-invalid` (400, 422),
 * `cluster-gone` (410), `cluster-busy` (429, 503; retryable), `cluster-unknown-kind` (not in discovery),
 * `cluster-error` (other). `data` contains url, status and the server's reason; messages never contain Secret values.
 */
export interface Cluster {
  /**
   * Returns the kinds that the server serves, in the preferred version only. They are read once and cached until
   * `refresh()`.
   */
  resources(): Promise<readonly ApiResource[]>;
  /** Returns the kind in exactly this version, preferred or not; undefined if the server does not serve it. */
  serves(apiVersion: string, kind: string): Promise<ApiResource | undefined>;
  /**
   * Returns the OpenAPI v3 document of a group-version, cached by the hash in the server's index; undefined if the
   * server has no such document.
   */
  schema(apiVersion: string): Promise<OpenApiDocument | undefined>;
  /**
   * Returns the issuer of service account tokens, cached for some minutes. For an unusable response it does not throw:
   * the result says why the issuer is unknown.
   */
  tokenIssuer(): Promise<TokenIssuer>;
  /** Drops the cached discovery, for example after a CRD was applied. */
  refresh(): void;
  /**
   * Lists all pages of all objects of a kind, in all namespaces unless `namespace` is set. `apiVersion` and `kind` are
   * filled in.
   */
  list(kind: ApiResource, namespace?: string, options?: ListOptions): Promise<readonly KubeObject[]>;
  /** Makes the next call of each list read from the server, even if a watch keeps the list current. */
  listAgain(): void;
  /** Reads an object. `urgent` requests are sent before all waiting requests. */
  get(id: ResourceId, how?: 'urgent'): Promise<KubeObject | undefined>;
  /**
   * Performs a server-side apply with this instance's field manager. If set, `metadata.uid` and `resourceVersion` are
   * preconditions.
   */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  /**
   * Deletes in the foreground. Resolves when the server has accepted the request, or if the object no longer exists.
   * The uid and, if set, the version are preconditions.
   */
  remove(id: ResourceId, uid: string, as?: string, resourceVersion?: string): Promise<void>;
  /**
   * Sends a JSON patch (RFC 6902) for an object as it was read. Except in a dry run, its resourceVersion is a
   * precondition: `cluster-conflict` if another writer was faster.
   */
  patch(object: KubeObject, operations: readonly JsonPatchOperation[], options: PatchOptions): Promise<KubeObject>;
  /** Create and replace without server-side apply, for the Lease: `cluster-conflict` if another writer was faster. */
  create(object: KubeObject): Promise<KubeObject>;
  replace(object: KubeObject): Promise<KubeObject>;
  /**
   * Sets a check that runs directly before every apply (except dry runs) and every deletion is sent, also before a
   * repeated or delayed request. If it throws, the call fails with that error. `changes` is true if the request writes
   * neither a status nor an Event. The deadline of the lease uses it. `undefined` removes the check.
   */
  fence(check: ((changes: boolean) => void) | undefined): void;
  /** Returns the number of requests so far, retries included. */
  requests(): number;
}

export interface PodPlace {
  readonly namespace: string;
  readonly name: string;
}

/** Reads what pods and the cluster say about them, for the console. Each method throws Failure as `Cluster` does. */
export interface PodReads {
  /**
   * Returns the last lines of a container's log. A log that is longer than `bytes` is refused. `previous`: the log of
   * the run before the last restart.
   */
  log(
    pod: PodPlace,
    container: string,
    limits: { readonly lines: number; readonly bytes: number; readonly previous: boolean },
  ): Promise<string>;
  /** Requests a path of a port of the pod through the API server, which reaches the pod for us. */
  request(
    pod: PodPlace,
    at: { readonly port: number; readonly path: string },
    how: { readonly bytes: number; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<string>;
  /** Returns the Events of a namespace. `complete` is false if the namespace has more than were read. */
  events(namespace: string): Promise<{ readonly events: readonly JsonObject[]; readonly complete: boolean }>;
}

/** A completed request to the API server, for metrics. */
export interface Exchange {
  /** HTTP method. */
  readonly method: string;
  /** HTTP status; undefined if there was no response. */
  readonly status?: number;
  /** Seconds until the response was read. */
  readonly seconds: number;
  /** True if the same request was sent before. */
  readonly repeated: boolean;
  /**
   * True for requests such as renewals of the lease, which are independent of the run and say nothing about its
   * progress.
   */
  readonly urgent: boolean;
}

export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Builds kustomizations. Callers check the references in them before. */
export interface KustomizeBuilder {
  /**
   * Returns the objects of the kustomization in a folder of the files, as YAML. Throws Failure `kustomize-missing`,
   * `kustomize-failed`, `kustomize-too-costly`; messages contain no values from files.
   */
  identity(): Promise<string>;
  /**
   * Returns the objects of the kustomization in a folder of the files, as YAML. Throws Failure `kustomize-missing`,
   * `kustomize-failed`, `kustomize-too-costly`; messages have no values of files.
   */
  build(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<string>;
}
