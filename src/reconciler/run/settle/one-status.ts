// Computes the status of one resource, or reuses the current status if all inputs of the status are the same.

import type { CatalogueState } from '#contracts/catalogue-state.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { type JsonObject, jsonEquals } from '#std/json.ts';
import type { Kind, Resource, TokenIssuer, View } from '../../kinds/kind.ts';
import { NO_REUSE, type Reuse } from '../reuse.ts';

/** Facts of this run that statuses report. */
export interface StatusFacts {
  /** Reasons why the children of a resource are incomplete or outdated, by the key of the resource. */
  readonly childErrors: ReadonlyMap<string, readonly string[]>;
  /** States by `namespace/name` of the registry. */
  readonly catalogue: ReadonlyMap<string, CatalogueState>;
  /** Failures of the stores of registries, by `namespace/name` of the registry. */
  readonly storeFailures: ReadonlyMap<string, string>;
  /** Set if a resource accepts tokens of service accounts. */
  readonly tokenIssuer: TokenIssuer | undefined;
  /** If absent, no results of earlier runs are reused. */
  readonly reuse?: Reuse | undefined;
}

interface Unlisted {
  /** Kinds with a failed LIST. */
  readonly unlisted: ReadonlySet<string>;
}

interface Subject {
  readonly kind: Kind;
  readonly live: Resource;
  /** The object as it was read. `live` was created from it. */
  readonly found: KubeObject;
  readonly findings: readonly Finding[];
  readonly around: View;
  readonly now: string;
}

interface Computed {
  readonly status: JsonObject;
  /** False if an input of the status could not be listed. */
  readonly isKnown: boolean;
  /** True if the object has this status already. */
  readonly isWritten: boolean;
}

/** Returns the status that a resource should have now. */
export function computeStatus(input: StatusFacts, observed: Unlisted, subject: Subject): Computed {
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
    // A status that differs may contain times of this run.
    keeps: ({ isWritten }) => isWritten,
    equal: jsonEquals,
  });
}

/** Returns the view, and notes whether a kind was read that could not be listed: then the result is uncertain. */
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
