// Declares the dependencies of a run: Git repositories, the cluster, a clock, and kustomize.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import type { Failure } from '#std/failure.ts';
import type { Json, JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { TokenIssuer } from '../kinds/kind.ts';

export interface RepositoryFile {
  /** Path inside the repository, with `/` as separator and without a leading slash. */
  readonly path: string;
  /** Id of the Git blob. Equal ids mean equal content. */
  readonly oid: string;
}

export interface Checkout {
  /** Full commit id. */
  readonly commit: string;
  /** All regular files of the commit, sorted by path. Symlinks and submodules are in `skipped` only. */
  readonly files: readonly RepositoryFile[];
  /** Reason why the ref could not be read now. The checkout is then the commit that the ref named at the last read. */
  readonly stale?: Failure;
  readonly skipped: readonly { readonly path: string; readonly reason: 'symlink' | 'submodule' }[];
  /** Returns the contents of blobs by oid. */
  read(oids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}

export interface Repository {
  /**
   * Fetches the commit that the configured ref names. If the commit was fetched before, requests only the refs. Throws
   * Failure `git-unreachable`, `git-auth-required`, `git-ref-not-found` or `git-not-a-repository`. Messages contain the
   * URL without credentials. Earlier checkouts stay usable.
   */
  fetch(): Promise<Checkout>;
  /**
   * Returns the commit with this full id, even if the ref names another commit. Uses an earlier fetch if possible.
   * Throws the failures of `fetch`, and `git-ref-not-found` if the commit no longer exists.
   */
  at(commit: string): Promise<Checkout>;
  /**
   * Returns the ids of at most `count` ancestors, nearest first. The list is shorter if the history is not available.
   */
  ancestors(commit: string, count: number): Promise<readonly string[]>;
}

/** A kind in the cluster's discovery. */
export interface ApiResource {
  /** Group and version, such as `v1` or `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface ApplyOptions {
  /** If set, the server checks the request and stores nothing. */
  readonly dryRun?: boolean;
  /** If set, the status subresource is written. */
  readonly subresource?: 'status';
  /**
   * If set, the apply takes fields over from other managers. Otherwise a conflict throws Failure `cluster-conflict`.
   */
  readonly force: boolean;
  /** User to impersonate. If absent, the request uses the account of the reconciler. */
  readonly as?: string;
}

/** One operation of a JSON patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Json;
}

export interface ListOptions {
  /** If set, only the metadata of all objects is read (Kubernetes API Concepts, "Metadata-only fetches"). */
  readonly only?: 'metadata';
  readonly selector?: string;
  /** Set if every run lists the kind. A long-lived process may then return a list that a watch keeps current. */
  readonly kept?: true;
  /** Set if each object may be as large as the server accepts. The size of a page is then limited in bytes. */
  readonly large?: true;
  /** If set, objects for which this function returns false are dropped after each page. */
  readonly keep?: (object: KubeObject) => boolean;
  /**
   * If set, returns the object to keep in memory instead of the read object: an equal object, or an object without
   * unused fields.
   */
  readonly hold?: (object: KubeObject) => KubeObject;
}

export type PatchOptions = Pick<ApplyOptions, 'dryRun' | 'as'>;

/**
 * Client of one Kubernetes API. Objects are passed unchanged in both directions. Every method throws Failure:
 * `cluster-unreachable` (connection, TLS, timeout), `cluster-unauthorized` (401), `cluster-forbidden` and
 * `cluster-namespace-leaving` (403), `cluster-not-found` (404), `cluster-conflict` (409), `cluster-invalid` (400, 422),
 * `cluster-gone` (410), `cluster-busy` (429, 503; retryable), `cluster-unknown-kind` (not in discovery),
 * `cluster-error` (other). `data` contains url, status and the server's reason. Messages never contain values of
 * Secrets.
 */
export interface Cluster {
  /**
   * Returns the kinds that the server serves, each in the preferred version. The result is cached until `refresh()`.
   */
  resources(): Promise<readonly ApiResource[]>;
  /** Returns the kind in exactly this version. undefined if the server does not serve this version. */
  serves(apiVersion: string, kind: string): Promise<ApiResource | undefined>;
  /**
   * Returns the OpenAPI v3 document of a group-version. undefined if the server has no document. Cached by the hash in
   * the server's index.
   */
  schema(apiVersion: string): Promise<OpenApiDocument | undefined>;
  /**
   * Returns the issuer of service account tokens, cached for some minutes. An unusable response throws nothing: the
   * result then says why the issuer is unknown.
   */
  tokenIssuer(): Promise<TokenIssuer>;
  /** Drops the cached discovery, for example after a CRD was applied. */
  refresh(): void;
  /**
   * Lists all pages of a kind, in all namespaces unless `namespace` is set. Each object gets `apiVersion` and `kind`.
   */
  list(kind: ApiResource, namespace?: string, options?: ListOptions): Promise<readonly KubeObject[]>;
  /** Makes the next `list` of each kind read from the server, even if a watch keeps its list current. */
  listAgain(): void;
  /** Reads an object; undefined if it does not exist. `urgent` requests are sent before all waiting requests. */
  get(id: ResourceId, how?: 'urgent'): Promise<KubeObject | undefined>;
  /**
   * Sends a server-side apply with the field manager of this instance. If set, `metadata.uid` and
   * `metadata.resourceVersion` are preconditions.
   */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  /**
   * Deletes an object in the foreground. Resolves when the server has accepted the request, or if the object does not
   * exist. `uid` and, if set, `resourceVersion` are preconditions.
   */
  remove(id: ResourceId, uid: string, as?: string, resourceVersion?: string): Promise<void>;
  /**
   * Sends a JSON patch (RFC 6902). Except in a dry run, the resourceVersion of `object` is a precondition: throws
   * Failure `cluster-conflict` if another writer was faster.
   */
  patch(object: KubeObject, operations: readonly JsonPatchOperation[], options: PatchOptions): Promise<KubeObject>;
  /** Creates an object without server-side apply. Throws Failure `cluster-conflict` if the object exists. */
  create(object: KubeObject): Promise<KubeObject>;
  /**
   * Replaces an object without server-side apply. Throws Failure `cluster-conflict` if another writer has changed the
   * object since it was read.
   */
  replace(object: KubeObject): Promise<KubeObject>;
  /**
   * Sets a check that runs before each apply, patch or deletion is sent or repeated, except dry runs. An error of the
   * check becomes the error of the call. `changes` is false if the request only writes a status or an Event.
   * `undefined` removes the check.
   */
  fence(check: ((changes: boolean) => void) | undefined): void;
  /** Returns the number of requests so far, with retries. */
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
  readonly method: string;
  /** HTTP status; undefined if there was no response. */
  readonly status?: number;
  /** Seconds until the whole response was read. */
  readonly seconds: number;
  /** True if the request is a retry. */
  readonly repeated: boolean;
  /**
   * True for urgent requests, such as renewals of the lease. Urgent requests say nothing about the progress of the run.
   */
  readonly urgent: boolean;
}

export interface Clock {
  /** Wall clock, in milliseconds since 1970. */
  now(): number;
  /** Monotonic clock, in milliseconds. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Builds kustomizations. Callers must check the references of a kustomization before the build. */
export interface KustomizeBuilder {
  /** Returns a text that identifies the building program and its version. Throws Failure `kustomize-missing`. */
  identity(): Promise<string>;
  /**
   * Returns the objects of the kustomization in `folder`, as YAML. Throws Failure `kustomize-missing`,
   * `kustomize-failed` or `kustomize-too-costly`. Messages contain no values of files.
   */
  build(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<string>;
}
