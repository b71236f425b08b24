// Defines the source of a registry's data and the filter on it. MCPRegistry declares it, and the catalogue's sync reads
// it.

/** `A` is the type of the credentials of the repository. */
export interface GitOrigin<A> {
  readonly type: 'git';
  readonly repository: string;
  /** At most one of branch, tag and commit is set. Without them, the remote's default branch is read. */
  readonly branch?: string;
  readonly tag?: string;
  readonly commit?: string;
  /** Path of the JSON file inside the repository. */
  readonly path: string;
  readonly auth?: A;
}

export interface ApiOrigin {
  readonly type: 'api';
  /** The base URL, to which the paths of the API are appended. */
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
  /** If true, the source is empty if the ConfigMap or its key does not exist. */
  readonly optional?: boolean;
}

/**
 * The running servers of the fleet whose annotations request an entry. The reconciler knows these servers without a
 * read.
 */
export interface FleetOrigin {
  readonly type: 'fleet';
  /** The namespaces, or `all` namespaces of the instance. */
  readonly namespaces: readonly string[] | 'all';
}

/** The origin of a source of an MCPRegistry. Its Secrets and ConfigMaps are in the namespace of the MCPRegistry. */
export type Origin =
  | GitOrigin<{
      readonly username: string;
      /** `optional`: if the Secret or its key does not exist, the repository is read without credentials. */
      readonly passwordSecretRef: { readonly name: string; readonly key: string; readonly optional?: boolean };
    }>
  | ApiOrigin
  | UrlOrigin
  | ConfigMapOrigin
  | FleetOrigin
  | { readonly type: 'claim'; readonly claimName: string; readonly path: string };

/**
 * Files with credentials: for HTTP a user name with its password, for ssh a private key with the keys of the trusted
 * servers.
 */
interface GitFiles {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly sshKeyFile?: string;
  readonly knownHostsFile?: string;
}

/** The origin of a source that the registry service reads itself. */
export type ServiceOrigin =
  | GitOrigin<GitFiles>
  | ApiOrigin
  | UrlOrigin
  | { readonly type: 'file'; readonly path: string };

/**
 * Exclude wins. If an include list is not empty, an entry must match it. Names are globs that cross `/`, tags are
 * exact.
 */
export interface Filter {
  readonly names: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly tags: { readonly include: readonly string[]; readonly exclude: readonly string[] };
}

/** Formats of registry files. All other lists of formats are derived from this list. */
export const SOURCE_FORMATS = ['toolhive', 'upstream'] as const;

export type SourceFormat = (typeof SOURCE_FORMATS)[number];

/** The format of a source whose declaration does not name one. */
export const DEFAULT_FORMAT = 'toolhive' satisfies SourceFormat;
/** The format in which the API of a registry responds. */
export const FORMAT_OF_APIS = 'upstream' satisfies SourceFormat;

const OWNERS: Readonly<Record<SourceFormat, string>> = {
  toolhive: "the platform's own",
  upstream: "the MCP registry's",
};

/** Names each format for the descriptions of fields. */
export const FORMATS_DESCRIBED = SOURCE_FORMATS.map((format) => `${format} is ${OWNERS[format]}`).join(', ');

/** `O` is the type of the origins that the reading process supports. */
export interface RegistrySource<O = Origin> {
  /**
   * `registries[].name`, which is unique within the MCPRegistry. Paths of the service contain it as `{registry_name}`.
   */
  readonly name: string;
  readonly format: SourceFormat;
  readonly origin: O;
  /** If absent, the source is synced once, again if its declaration changes, and by the manual trigger. */
  readonly intervalMs?: number;
  readonly filter: Filter;
  /** JSON pointer to the declaration of the source. If absent, the source is declared in `registries` at its index. */
  readonly at?: string | undefined;
}
