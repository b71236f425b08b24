// Repositories in memory, as a history of commits leaves them: refs that move on, go back and are pushed over.

import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { sha256 } from '#std/hash.ts';

/** One object of a manifest. */
export interface Doc {
  readonly kind: 'Namespace' | 'ConfigMap' | 'ServiceAccount' | 'MCPGroup';
  /** `a` is always there; `b` only where Git declares it. Absent for namespaces. */
  readonly place?: 'a' | 'b';
  readonly name: string;
  readonly value: number;
  /** Someone mistyped it: it is not valid. */
  readonly isBroken: boolean;
}

export interface Version {
  readonly commit: string;
  readonly parent: Version | undefined;
  readonly docs: readonly Doc[];
  /** A document that cannot be identified. */
  readonly isUnreadable: boolean;
}

export interface MemoryRepository {
  tip: Version;
  readonly versions: Map<string, Version>;
  readonly port: Repository;
}

export function keyOfDoc({ kind, place, name }: Doc): string {
  return `${place ?? ''}/${kind}/${name}`;
}

let count = 0;

export function versionOf(parent: Version | undefined, docs: readonly Doc[], isUnreadable = false): Version {
  count += 1;
  return { commit: sha256(`commit ${count}`).slice(0, 40), parent, docs, isUnreadable };
}

/** `render`: a manifest, with the names that objects have in the cluster. */
export function memoryRepository(first: Version, render: (doc: Doc) => string): MemoryRepository {
  const versions = new Map([[first.commit, first]]);
  const repository = { tip: first, versions };
  async function at(commit: string): Promise<Checkout> {
    const version = versions.get(commit);
    if (version === undefined) throw new Error(`no commit ${commit}`);
    return checkoutOf(version, render);
  }
  return Object.assign(repository, {
    port: {
      at,
      fetch: () => at(repository.tip.commit),
      async ancestors(commit: string) {
        const found: string[] = [];
        for (let each = versions.get(commit)?.parent; each !== undefined; each = each.parent) found.push(each.commit);
        return found;
      },
    },
  });
}

export function push(repository: MemoryRepository, version: Version): void {
  repository.versions.set(version.commit, version);
  repository.tip = version;
}

function checkoutOf({ commit, docs, isUnreadable }: Version, render: (doc: Doc) => string): Checkout {
  const texts = [
    ...docs.map((doc) => [`${keyOfDoc(doc).replaceAll('/', '-')}.yaml`, render(doc)] as const),
    ...(isUnreadable ? ([['unreadable.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {']] as const) : []),
    // A path at which there is nothing is an error of its own.
    ['README.md', 'A fleet\n'] as const,
  ];
  const files = texts.map(([path, text]) => ({ path, oid: sha256(text) })).sort((a, b) => (a.path < b.path ? -1 : 1));
  const contents = new Map(texts.map(([, text]) => [sha256(text), Buffer.from(text)]));
  return {
    commit,
    files,
    skipped: [],
    read: async (oids) => new Map(oids.map((oid) => [oid, contents.get(oid) ?? Buffer.from('')])),
  };
}
