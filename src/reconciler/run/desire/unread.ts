// Leaves out the children of a resource if an object that the children need could not be read. Such an object is a
// reference, an object that a virtual server discovers, or part of the instance's configuration. Without this stage,
// pods would restart now, and again when the object is readable.

import type { Finding } from '#kubernetes/rules/finding.ts';
import type { Problem } from '#std/problem.ts';
import type { View } from '../../kinds/kind.ts';
import { problemOf } from '../read/problem-of.ts';
import type { Sourced } from '../read/sourced.ts';
import { type Resolved, unknownFinding } from '../resolve/resolve.ts';

/**
 * Returns true if the object may exist but was not read. Without a name: true if any object of the kind was not read.
 */
export type IsUnread = (kind: string, namespace: string, name?: string) => boolean;

/** Findings by resource, for resources whose children are not created. */
export type Unread = ReadonlyMap<Sourced, readonly Finding[]>;

/** Returns the view. It records each requested object that could not be read; `unread()` returns the findings. */
export function notingUnread(view: View, namespace: string, isUnread: IsUnread): View & { unread(): Finding[] } {
  const missed = new Map<string, Finding>();
  return {
    find(kind, name) {
      const found = view.find(kind, name);
      if (found === undefined && isUnread(kind, namespace, name))
        missed.set(`${kind} ${name}`, unknownFinding('', kind, namespace, name));
      return found;
    },
    all(kind) {
      if (isUnread(kind, namespace)) missed.set(kind, unlistedFinding(kind, namespace));
      return view.all(kind);
    },
    pods: view.pods,
    unread: () => [...missed.values()],
  };
}

function unlistedFinding(kind: string, namespace: string): Finding {
  const message = `it is unknown which objects of kind ${kind} are in namespace ${namespace}: they could not be listed`;
  return { code: 'reference-unknown', severity: 'error', pointer: '', message };
}

export function refuseUnread(
  resolved: Resolved,
  unread: Unread,
): { readonly resolved: Resolved; readonly problems: readonly Problem[] } {
  if (unread.size === 0) return { resolved, problems: [] };
  const standings = resolved.standings.map((standing) => {
    const findings = unread.get(standing.loaded);
    if (findings === undefined) return standing;
    return { ...standing, health: 'refused' as const, findings: [...standing.findings, ...findings] };
  });
  const problems = [...unread].flatMap(([loaded, findings]) => findings.map((finding) => problemOf(loaded, finding)));
  return { resolved: { ...resolved, standings }, problems };
}
