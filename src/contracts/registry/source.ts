// Where a registry's data comes from and which of it is kept. What MCPRegistry says and the catalogue's sync reads.

/** `A`: what opens the repository. */
export interface GitOrigin<A> {
  readonly type: 'git';
  readonly repository: string;
  /** At most one of the three; none means the remote's default branch. */
  readonly branch?: string;
  readonly tag?: string;
  readonly commit?: string;
  /** Path of the JSON file inside the repository. */
  readonly path: string;
  readonly auth?: A;
}

export interface ApiOrigin {
  readonly type: 'api';
  /** Base URL: the paths of the API are appended. */
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
  /** True: without the ConfigMap or its key, the source is empty. */
  readonly optional?: boolean;
}

/** The servers of the fleet that run and whose annotations ask for an entry. The reconciler itself knows them. */
export interface FleetOrigin {
  readonly type: 'fleet';
  /** `all`: every namespace of the instance. */
  readonly namespaces: readonly string[] | 'all';
}

/** Where an MCPRegistry has a source from. Secrets and ConfigMaps live in its namespace. */
export type Origin =
  | GitOrigin<{
      readonly username: string;
      /** `optional`: without the Secret or its key, the repository is read without credentials. */
      readonly passwordSecretRef: { readonly name: string; readonly key: string; readonly optional?: boolean };
    }>
  | ApiOrigin
  | UrlOrigin
  | ConfigMapOrigin
  | FleetOrigin
  | { readonly type: 'claim'; readonly claimName: string; readonly path: string };

/** Files: for HTTP a user name with its password, for ssh a private key with the keys of the servers to trust. */
interface GitFiles {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly sshKeyFile?: string;
  readonly knownHostsFile?: string;
}

/** Where the registry service reads by itself. */
export type ServiceOrigin =
  | GitOrigin<GitFiles>
  | ApiOrigin
  | UrlOrigin
  | { readonly type: 'file'; readonly path: string };

/** Exclude wins; a non-empty include list needs a match; names are globs that cross `/`, tags are exact. */
export interface Filter {
  readonly names: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly tags: { readonly include: readonly string[]; readonly exclude: readonly string[] };
}

/** Formats of registry files. Every other list of them follows from this one. */
export const SOURCE_FORMATS = ['toolhive', 'upstream'] as const;

export type SourceFormat = (typeof SOURCE_FORMATS)[number];

/** The format of a source whose declaration does not name one. */
export const DEFAULT_FORMAT = 'toolhive' satisfies SourceFormat;
/** The format that the API of a registry answers in. */
export const FORMAT_OF_APIS = 'upstream' satisfies SourceFormat;

const OWNERS: Readonly<Record<SourceFormat, string>> = {
  toolhive: "the platform's own",
  upstream: "the MCP registry's",
};

/** Names each format for the descriptions of fields. */
export const FORMATS_DESCRIBED = SOURCE_FORMATS.map((format) => `${format} is ${OWNERS[format]}`).join(', ');

/** `O`: the origins that its host knows how to read. */
export interface RegistrySource<O = Origin> {
  /** `registries[].name`: unique within the MCPRegistry, and the `{registry_name}` of the service's paths. */
  readonly name: string;
  readonly format: SourceFormat;
  readonly origin: O;
  /** Absent: synced once, on change of the filter, and by the manual trigger. */
  readonly intervalMs?: number;
  readonly filter: Filter;
  /** JSON pointer to what its author wrote. Absent: it is the entry of `registries` at its position. */
  readonly at?: string | undefined;
}
