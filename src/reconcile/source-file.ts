// A file of a source, and the memory of what was read of it before. Knows nothing about what is in it.

export interface SourceFile {
  /** As problems name it. Only `*.yaml`, `*.yml` and `*.json` are read. */
  readonly path: string;
  /** Equal ids mean equal text (a Git blob id, or a digest). */
  readonly oid: string;
  readonly text: string;
}

/** Whether a file holds manifests, by its name or path: `*.yaml`, `*.yml` and `*.json` do. */
export function isManifest(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name);
}

/** Map-like; keys name content and schemas, values are opaque JSON. */
export interface LoadCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}
