// Where a registry's data comes from and which of it is kept. What MCPRegistry says and the catalogue's sync reads.
// Source: document 2, MCPRegistryConfig.

/** Exactly one place to read from. Secrets and ConfigMaps live in the MCPRegistry's namespace. */
export type Origin =
  | {
      readonly type: 'git';
      readonly repository: string;
      /** At most one of the three; none means the remote's default branch. */
      readonly branch?: string;
      readonly tag?: string;
      readonly commit?: string;
      /** Path of the JSON file inside the repository. */
      readonly path: string;
      readonly auth?: {
        readonly username: string;
        readonly passwordSecretRef: { readonly name: string; readonly key: string };
      };
    }
  | { readonly type: 'configMap'; readonly name: string; readonly key: string }
  | { readonly type: 'api'; readonly endpoint: string }
  | { readonly type: 'claim'; readonly claimName: string; readonly path: string };

/** Exclude wins; a non-empty include list needs a match; names are globs that cross `/`, tags are exact. */
export interface Filter {
  readonly names: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly tags: { readonly include: readonly string[]; readonly exclude: readonly string[] };
}

export type SourceFormat = 'toolhive' | 'upstream';

export interface RegistrySource {
  /** `registries[].name`: unique within the MCPRegistry, and the `{registry_name}` of the service's paths. */
  readonly name: string;
  readonly format: SourceFormat;
  readonly origin: Origin;
  /** Absent: synced once, on change of the filter, and by the manual trigger. */
  readonly intervalMs?: number;
  readonly filter: Filter;
}
