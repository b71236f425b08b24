// Limits the namespaces and kinds that one source may declare, by its setting `allow`.

import { groupOf } from '#kubernetes/rules/object.ts';
import { globMatches } from '#std/patterns/glob.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import { readPattern } from './patterns.ts';
import { problemOf } from './problem-of.ts';
import type { Sourced } from './sourced.ts';

export interface Allow {
  /**
   * Names, or globs such as `team-*`. Objects without a namespace need `*`. A Namespace is also allowed by its own
   * name.
   */
  readonly namespaces: readonly string[];
  /** Kinds such as `MCPServer` or `MCP*`, with or without group: `Deployment.apps`, `*.toolhive.stacklok.dev`. */
  readonly kinds: readonly string[];
}

export interface SourceLimits {
  /**
   * Returns why the source may not declare the object; undefined if the source may declare it. The reason completes a
   * sentence after "may declare".
   */
  refusal(id: ResourceId): { readonly pointer: string; readonly reason: string } | undefined;
  /**
   * Returns true if the namespace of a child is allowed. The kind of a child is not checked, because its author did not
   * choose it.
   */
  allowsNamespace(id: ResourceId): boolean;
}

/** Returns the limits. Throws Failure `pattern-invalid`. */
export function limitsOf({ namespaces, kinds }: Allow): SourceLimits {
  const places = namespaces.map((pattern) => readPattern('allow.namespaces', pattern));
  const sorts = kinds.map((pattern) => readPattern('allow.kinds', pattern));
  const everywhere = namespaces.includes('*');
  function allowsNamespace({ apiVersion, kind, namespace, name }: ResourceId): boolean {
    const place = namespace ?? (apiVersion === 'v1' && kind === 'Namespace' ? name : undefined);
    return everywhere || (place !== undefined && places.some((glob) => globMatches(glob, place)));
  }
  return {
    allowsNamespace,
    refusal(id) {
      const names = [id.kind, `${id.kind}.${groupOf(id.apiVersion)}`];
      if (!sorts.some((glob) => names.some((name) => globMatches(glob, name)))) {
        return { pointer: '/kind', reason: `no ${id.kind}: its allow.kinds are ${kinds.join(', ')}` };
      }
      if (allowsNamespace(id)) return undefined;
      const what = id.namespace === undefined ? 'nothing without a namespace' : `nothing in namespace ${id.namespace}`;
      const pointer = id.namespace === undefined ? '/kind' : '/metadata/namespace';
      return { pointer, reason: `${what}: its allow.namespaces are ${namespaces.join(', ')}` };
    },
  };
}

/** Limits by name of the source. A source without limits may declare every object. */
export type LimitsBySource = ReadonlyMap<string, SourceLimits>;

export function limitsBySource(sources: readonly { readonly name: string; readonly allow?: Allow }[]): LimitsBySource {
  return new Map(sources.flatMap(({ name, allow }) => (allow === undefined ? [] : [[name, limitsOf(allow)]])));
}

/** Returns the resources that the limits of their source forbid, with one problem each. */
export function beyondLimits(limits: LimitsBySource, loaded: readonly Sourced[]): ReadonlyMap<Sourced, Problem> {
  return new Map(
    loaded.flatMap((resource): [Sourced, Problem][] => {
      const refusal = limits.get(resource.source)?.refusal(resource.id);
      if (refusal === undefined) return [];
      const { pointer, reason } = refusal;
      const message = `source ${resource.source} may declare ${reason} (skep.yaml)`;
      return [[resource, problemOf(resource, { code: 'source-not-allowed', severity: 'error', pointer, message })]];
    }),
  );
}
