// Defines the source of a registry's entries, and the filter on these entries. An MCPRegistry declares sources, and the
// catalogue's sync reads them.

/** `A`: type of the credentials. */
export interface GitOrigin<A> {
  readonly type: 'git';
  readonly repository: string;
  /** At most one of branch, tag and commit is set. If none is set, the remote's default branch is read. */
  readonly branch?: string;
  readonly tag?: string;
  readonly commit?: string;
  /** Path of the registry file in the repository. */
  readonly path: string;
  readonly auth?: A;
}

export interface ApiOrigin {
  readonly type: 'api';
  /** Base URL of the API. */
  readonly endpoint: string;
}

export interface UrlOrigin {
  readonly type: 'url';
  readonly url: string;
  readonly timeoutMs: number;
}

export interface ConfigMapOrigin {
  readonly type: 'configMap';
  readonly name: string;
  readonly key: string;
  /** If true, a missing ConfigMap or key means an empty source. */
  readonly optional?: boolean;
}

/**
 * Running servers of the fleet whose annotations request an entry. The reconciler knows these servers without reading a
 * source.
 */
export interface FleetOrigin {
  readonly type: 'fleet';
  /** Namespaces of the servers. `all`: all namespaces of the instance. */
  readonly namespaces: readonly string[] | 'all';
}

/** Origin of an MCPRegistry's source. Secrets and ConfigMaps are in the MCPRegistry's namespace. */
export type Origin =
  | GitOrigin<{
      readonly username: string;
      /** If `optional` is true and the Secret or its key is missing, the repository is read without credentials. */
      readonly passwordSecretRef: { readonly name: string; readonly key: string; readonly optional?: boolean };
    }>
  | ApiOrigin
  | UrlOrigin
  | ConfigMapOrigin
  | FleetOrigin
  | { readonly type: 'claim'; readonly claimName: string; readonly path: string };

/**
 * Files with credentials. For http: a user name and a password. For ssh: a private key and the keys of known servers.
 */
interface GitFiles {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly sshKeyFile?: string;
  readonly knownHostsFile?: string;
}

/** Origin of a source that the registry service itself reads. */
export type ServiceOrigin =
  | GitOrigin<GitFiles>
  | ApiOrigin
  | UrlOrigin
  | { readonly type: 'file'; readonly path: string };

/**
 * Selects entries. Exclude takes precedence over include. If an include list is not empty, only its matches are
 * selected. Names are globs whose `*` also matches `/`, and tags are exact.
 */
export interface Filter {
  readonly names: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly tags: { readonly include: readonly string[]; readonly exclude: readonly string[] };
}

/** Formats of registry files. */
export const SOURCE_FORMATS = ['toolhive', 'upstream'] as const;

export type SourceFormat = (typeof SOURCE_FORMATS)[number];

/** Format if a source declares none. */
export const DEFAULT_FORMAT = 'toolhive' satisfies SourceFormat;
/** Format of the responses of registries' APIs. */
export const FORMAT_OF_APIS = 'upstream' satisfies SourceFormat;

const OWNERS: Readonly<Record<SourceFormat, string>> = {
  toolhive: "the platform's own",
  upstream: "the MCP registry's",
};

/** Text about all formats, for descriptions of fields. */
export const FORMATS_DESCRIBED = SOURCE_FORMATS.map((format) => `${format} is ${OWNERS[format]}`).join(', ');

/** `O`: type of the origins that a process can read. */
export interface RegistrySource<O = Origin> {
  /**
   * `registries[].name`, which is unique in its MCPRegistry. Paths of the service contain this name as
   * `{registry_name}`.
   */
  readonly name: string;
  readonly format: SourceFormat;
  readonly origin: O;
  /** If not set, the source is synced once, and again after a change of its declaration or a manual trigger. */
  readonly intervalMs?: number;
  readonly filter: Filter;
  /** JSON pointer to the source's declaration. If not set, the declaration is an item of `registries`. */
  readonly at?: string | undefined;
}
