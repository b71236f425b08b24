// Restricts an instance to the namespaces that it may touch.

import { globMatches } from '#std/patterns/glob.ts';
import type { Problem } from '#std/problem.ts';
import { readPattern } from '../read/patterns.ts';
import { problemOf } from '../read/problem-of.ts';
import type { Sourced } from '../read/sourced.ts';

export interface NamespaceScope {
  allows(namespace: string): boolean;
  /** Namespaces to list. undefined if a pattern is a glob: then all namespaces are listed. */
  readonly names: readonly string[] | undefined;
}

/** Returns the scope. `patterns` are names, or globs such as `team-*`. Throws Failure `pattern-invalid`. */
export function scopeOf(patterns: readonly string[]): NamespaceScope {
  const globs = patterns.map((pattern) => readPattern('namespaces', pattern));
  const literal = patterns.every((pattern) => /^[a-z0-9-]+$/.test(pattern));
  // Cached by namespace, because thousands of resources are in few namespaces.
  const known = new Map<string, boolean>();
  return {
    allows(namespace) {
      const allowed = known.get(namespace) ?? globs.some((glob) => globMatches(glob, namespace));
      known.set(namespace, allowed);
      return allowed;
    },
    names: literal ? patterns : undefined,
  };
}

/** Returns the resources outside the scope, with one problem each. */
export function outside(scope: NamespaceScope, loaded: readonly Sourced[]): ReadonlyMap<Sourced, Problem> {
  return new Map(
    loaded.flatMap((resource): [Sourced, Problem][] => {
      const { namespace } = resource.id;
      if (namespace === undefined || scope.allows(namespace)) return [];
      const message = `namespace ${namespace} is not among those this instance may touch (namespaces in skep.yaml)`;
      const finding = {
        code: 'namespace-not-allowed',
        severity: 'error',
        pointer: '/metadata/namespace',
        message,
      } as const;
      return [[resource, problemOf(resource, finding)]];
    }),
  );
}
