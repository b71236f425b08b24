// Computes the status of one resource, or reuses the current status if no input has changed.

import type { CatalogueState } from '#contracts/catalogue-state.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { type JsonObject, jsonEquals } from '#std/json.ts';
import type { Kind, Resource, TokenIssuer, View } from '../../kinds/kind.ts';
import { NO_REUSE, type Reuse } from '../reuse.ts';

/** Facts of the run that statuses report. */
export interface StatusFacts {
  /** Reasons why children are incomplete or outdated, by key of the resource. */
  readonly childErrors: ReadonlyMap<string, readonly string[]>;
  /** Catalogue states by `namespace/name` of the registry. */
  readonly catalogue: ReadonlyMap<string, CatalogueState>;
  /** Failures of databases by `namespace/name` of the registry. */
  readonly storeFailures: ReadonlyMap<string, string>;
  /** Present if a resource accepts tokens of service accounts. */
  readonly tokenIssuer: TokenIssuer | undefined;
  readonly reuse?: Reuse | undefined;
}

interface Unlisted {
  /** Kinds with a failed LIST. */
  readonly unlisted: ReadonlySet<string>;
}

interface StatusSubject {
  readonly kind: Kind;
  readonly live: Resource;
  /** Object as it was read from the cluster. `live` is created from this object. */
  readonly found: KubeObject;
  readonly findings: readonly Finding[];
  readonly around: View;
  readonly now: string;
}

interface Computed {
  readonly status: JsonObject;
  /** False if an input of the status could not be read. */
  readonly isKnown: boolean;
  /** True if the live object already has this status. */
  readonly isWritten: boolean;
}

/** Returns the status that the resource should have now. */
export function computeStatus(input: StatusFacts, observed: Unlisted, subject: StatusSubject): Computed {
  const { kind, live, found, findings, around, now } = subject;
  const { name, namespace = '' } = live.metadata;
  const registry = `${namespace}/${name}`;
  const { tokenIssuer, reuse = NO_REUSE } = input;
  const { unlisted } = observed;
  const facts = {
    refusals: findings.filter((finding) => finding.severity === 'error'),
    failures: input.childErrors.get(keyOfObject(found)) ?? [],
    catalogue: input.catalogue.get(registry),
    storeFailure: input.storeFailures.get(registry),
    tokenIssuer,
  };
  const isRead = !findings.some(({ code }) => code === 'reference-unknown');
  return reuse.result({
    stage: 'status',
    key: keyOfObject(found),
    given: [kind, found, JSON.stringify([facts, [...unlisted]]), isRead],
    questions: {
      find: (of: string, which: string) => around.find(of, which),
      all: (of: string) => around.all(of),
      pods: (of: string, which: string) => around.pods?.(of, which) ?? [],
    },
    work(noting) {
      const view = withUnlisted(observed, noting);
      const status = kind.status(live, { ...facts, view, unlisted, now });
      const isWritten = jsonEquals(status, live.status);
      return { status: isWritten ? (live.status ?? status) : status, isKnown: isRead && !view.isMissing(), isWritten };
    },
    // A status that must still be written may contain times of this run.
    keeps: ({ isWritten }) => isWritten,
    equal: jsonEquals,
  });
}

/**
 * Returns the view. `isMissing` returns true after a request for a kind that could not be listed: the result is then
 * uncertain.
 */
export function withUnlisted({ unlisted }: Unlisted, view: View): View & { isMissing(): boolean } {
  let missing = false;
  return {
    find(kind, name) {
      missing ||= unlisted.has(kind);
      return view.find(kind, name);
    },
    all(kind) {
      missing ||= unlisted.has(kind);
      return view.all(kind);
    },
    pods: view.pods,
    isMissing: () => missing,
  };
}
