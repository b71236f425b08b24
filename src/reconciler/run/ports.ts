// What a run needs of the world: repositories to read, a cluster to compare with and write to, a clock, a lock.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import type { Failure } from '#std/failure.ts';
import type { Json } from '#std/json.ts';
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
  /** Every regular file of the commit, sorted by path; symlinks and submodules are left out and named in `skipped`. */
  readonly files: readonly RepositoryFile[];
  /** Present: this is what the ref named when it was read last, and why it could not be read anew. */
  readonly stale?: Failure;
  readonly skipped: readonly { readonly path: string; readonly reason: 'symlink' | 'submodule' }[];
  /** The contents of the given blobs, by oid. */
  read(oids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}

export interface Repository {
  /**
   * Brings the commit that the configured ref names now. Cheap when it did not move: then only the refs are asked for.
   * Throws Failure `git-unreachable`, `git-auth-required`, `git-ref-not-found`, `git-not-a-repository`; the message
   * names the URL (never its credentials). What was fetched before stays usable.
   */
  fetch(): Promise<Checkout>;
  /**
   * That commit, whatever the ref names now: by its full id, from what was fetched before where it is still there. Throws
   * Failure as `fetch` does; `git-ref-not-found` where no one has the commit any more.
   */
  at(commit: string): Promise<Checkout>;
  /** Ids of the commits that came before it, nearest first, at most `count`; fewer where history is not to be had. */
  ancestors(commit: string, count: number): Promise<readonly string[]>;
}

/** One entry of the cluster's discovery. */
export interface ApiResource {
  /** `v1`, `apps/v1`, ... */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface ApplyOptions {
  /** The server checks everything and stores nothing. */
  readonly dryRun?: boolean;
  /** `status` writes the status subresource. */
  readonly subresource?: 'status';
  /** Take fields over from other managers. Without it a conflict is Failure `cluster-conflict`. */
  readonly force: boolean;
  /** The user whose rights count instead of the reconciler's own. */
  readonly as?: string;
}

/** RFC 6902, as far as it is used. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Json;
}

/** What of a kind is listed; everything where nothing is given. */
export interface ListOptions {
  /** `metadata`: of all objects, but nothing else of them (Kubernetes API Concepts, "Metadata-only fetches"). */
  readonly only?: 'metadata';
  /** A label selector. */
  readonly selector?: string;
  /** Each run lists it: a process that stays may answer from a list that a watch keeps current. */
  readonly kept?: true;
  /** Each object may be as large as the server takes it: pages are bounded by bytes. */
  readonly large?: true;
  /** Of each page the others are forgotten at once. */
  readonly keep?: (object: KubeObject) => boolean;
  /** Returns the object that is kept in place of one that was read: an equal one, or one without fields that its reader never uses. */
  readonly hold?: (object: KubeObject) => KubeObject;
}

export type PatchOptions = Pick<ApplyOptions, 'dryRun' | 'as'>;

/**
 * One Kubernetes API. Objects travel verbatim, both ways. Every method throws Failure: `cluster-unreachable` (connection,
 * TLS, timeout), `cluster-unauthorized` (401), `cluster-forbidden` and
 * `cluster-namespace-leaving` (403), `cluster-not-found` (404),
 * `cluster-conflict` (409), `cluster-invalid` (400, 422), `cluster-gone` (410), `cluster-busy` (429, 503; retryable),
 * `cluster-unknown-kind` (not in discovery), `cluster-error` (other). `data` holds url, status and the server's reason;
 * messages never hold Secret values.
 */
export interface Cluster {
  /** Kinds that the server serves, preferred version only; read once and cached until `refresh()`. */
  resources(): Promise<readonly ApiResource[]>;
  /** The kind in this very version, preferred or not; undefined where the server does not serve it. */
  serves(apiVersion: string, kind: string): Promise<ApiResource | undefined>;
  /** The OpenAPI v3 document of a group-version, cached by the hash in the server's index. Undefined: it has none. */
  schema(apiVersion: string): Promise<OpenApiDocument | undefined>;
  /** The issuer of service account tokens, remembered for some minutes. Does not throw because of the answer: it says why there is none. */
  tokenIssuer(): Promise<TokenIssuer>;
  /** Forgets discovery (a CRD was applied). */
  refresh(): void;
  /** All objects of a kind, all pages; of all namespaces where none is given. `apiVersion` and `kind` are filled in. */
  list(kind: ApiResource, namespace?: string, options?: ListOptions): Promise<readonly KubeObject[]>;
  /** From now on each list is read from the server once more, also if a watch keeps it current. */
  listAgain(): void;
  /** `urgent`: before whatever waits its turn. */
  get(id: ResourceId, how?: 'urgent'): Promise<KubeObject | undefined>;
  /** Server-side apply with this instance's field manager. `metadata.uid` and `resourceVersion`, where given, are preconditions. */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  /**
   * Foreground deletion. Resolves when the server accepted it; an object that is already gone is fine. Uid and, where
   * given, version are preconditions.
   */
  remove(id: ResourceId, uid: string, as?: string, resourceVersion?: string): Promise<void>;
  /**
   * JSON patch (RFC 6902) of an object as it was read: its resourceVersion is a precondition, `cluster-conflict` where
   * someone was faster. Not of a dry run.
   */
  patch(object: KubeObject, operations: readonly JsonPatchOperation[], options: PatchOptions): Promise<KubeObject>;
  /** Plain create and replace, for the Lease: optimistic, `cluster-conflict` where someone was faster. */
  create(object: KubeObject): Promise<KubeObject>;
  replace(object: KubeObject): Promise<KubeObject>;
  /**
   * `check` is called right before every apply (dry runs aside) and every deletion is sent, also when one is repeated or
   * had to wait its turn; what it throws ends that call. `changes`: it is no status and no Event. For the lease's deadline:
   * `undefined` takes the check away.
   */
  fence(check: ((changes: boolean) => void) | undefined): void;
  /** Requests made so far, retries included. */
  requests(): number;
}

/** One request to the API server as it ended, for those who count. */
export interface Exchange {
  /** HTTP method. */
  readonly method: string;
  /** HTTP status; undefined where no answer came. */
  readonly status?: number;
  /** Until the answer was read. */
  readonly seconds: number;
  /** The same request was sent before. */
  readonly repeated: boolean;
  /** It keeps a lease, or the like: it goes on beside whatever a run does, and says nothing of how far that is. */
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

/** Builds kustomizations. Callers check their references before. */
export interface KustomizeBuilder {
  /** Equal inputs have equal outputs as long as this is equal. Throws Failure `kustomize-missing`. */
  identity(): Promise<string>;
  /**
   * The objects of the kustomization in a folder of the files, as YAML. Throws Failure `kustomize-missing`,
   * `kustomize-failed`, `kustomize-too-costly`; messages have no values of files.
   */
  build(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<string>;
}
