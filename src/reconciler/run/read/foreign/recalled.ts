// Provides schemas for kinds of other projects if their CRDs are not available. A schema has fewer fields than the CRD,
// and the release in the cluster may have other fields.

import { compileStructural, type Structural } from '#kubernetes/rules/structural/structural.ts';
import { EXTERNAL_SECRETS } from './external-secrets.ts';
import { ONE_PASSWORD } from './onepassword.ts';
import { VAULT_SECRETS } from './vault.ts';
import type { ForeignKind } from './words.ts';

export interface RecalledKind {
  readonly namespaced: boolean;
  readonly structural: Structural;
}

const KINDS: ReadonlyMap<string, ForeignKind> = new Map(
  [...EXTERNAL_SECRETS, ...VAULT_SECRETS, ...ONE_PASSWORD].flatMap((each) =>
    each.apiVersions.map((apiVersion) => [`${apiVersion} ${each.kind}`, each] as const),
  ),
);

const compiled = new Map<ForeignKind, RecalledKind>();

/**
 * Returns the kind; undefined if there is no schema. A schema is compiled when the first object of its kind is read.
 */
export function findRecalledKind(apiVersion: string, kind: string): RecalledKind | undefined {
  const found = KINDS.get(`${apiVersion} ${kind}`);
  if (found === undefined) return undefined;
  const known = compiled.get(found) ?? { namespaced: found.namespaced, structural: compileStructural(found.schema) };
  compiled.set(found, known);
  return known;
}
