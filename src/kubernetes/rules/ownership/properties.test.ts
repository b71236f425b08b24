// Tests properties that must hold for all objects and writes. Generates random histories of six kinds from seeds.

import { describe, expect, test } from 'vitest';
import {
  edit,
  generate,
  type Random,
  random,
  stored,
  withoutNulls,
} from '../../../../test/kubernetes/rules/generate.ts';
import { thing, typeOf } from '../../../../test/kubernetes/rules/thing.ts';
import { normalise } from '../normalise.ts';
import type { KubeObject } from '../object.ts';
import type { MergeType } from '../openapi.ts';
import { compare } from './compare.ts';
import { differences } from './differences.ts';
import { entryOf } from './entries.ts';
import { equalSets } from './fieldset.ts';
import { formatFields, parseFields } from './fieldsv1.ts';
import { ownedSet } from './owned.ts';
import { keepTimes, serverSideApply, trackUpdate } from './write/apply.ts';

const OWN = 'own';
const SEEDS = 150;

const KINDS: readonly KubeObject[] = [
  ['apps/v1', 'Deployment'],
  ['v1', 'Service'],
  ['v1', 'ConfigMap'],
  ['v1', 'Secret'],
  ['rbac.authorization.k8s.io/v1', 'Role'],
  ['things.example/v1', 'Thing'],
].map(([apiVersion = '', kind = '']) => ({ apiVersion, kind, metadata: { name: 'a', namespace: 'n' } }));

interface Story {
  readonly rng: Random;
  readonly type: MergeType;
  readonly desired: KubeObject;
  readonly live: KubeObject;
}

/** Applies an object as a server does: merged and in stored form. Keeps the old times if nothing else changed. */
function write(live: KubeObject | undefined, applied: KubeObject, type: MergeType, manager: string): KubeObject {
  const time = `2026-01-01T00:00:0${manager.length}Z`;
  const context = { applied, type, manager, apiVersion: applied.apiVersion, force: true, time };
  const result = serverSideApply(live === undefined ? context : { ...context, live });
  if (!('object' in result)) throw new Error(`${applied.kind} was not applied: ${JSON.stringify(result)}`);
  const next = stored(result.object, type);
  return live === undefined ? next : keepTimes(live, next);
}

/** Generates an object that we applied and that other managers may have changed afterwards. */
function tell(seed: number, like: KubeObject): Story {
  const rng = random(seed);
  const type = typeOf(like);
  const desired = withoutNulls(generate(rng, like, type));
  let live = write(undefined, desired, type, OWN);
  for (let writes = Math.floor(rng.next() * 3); writes > 0; writes -= 1) {
    if (rng.chance(0.5)) live = write(live, edit(rng, desired, type), type, 'other');
    else live = updated(live, stored(edit(rng, live, type), type), type);
  }
  return { rng, type, desired, live };
}

function updated(before: KubeObject, after: KubeObject, type: MergeType): KubeObject {
  const time = '2026-01-01T00:00:09Z';
  return keepTimes(before, trackUpdate({ before, after, type, manager: 'editor', apiVersion: after.apiVersion, time }));
}

/** Runs a check for all seeds. Failures contain the seed. */
function forAll(like: KubeObject, check: (story: Story) => void): void {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    try {
      check(tell(seed, like));
    } catch (error) {
      throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
    }
  }
}

function withoutManagers({ metadata: { managedFields: _, ...metadata }, ...object }: KubeObject): object {
  return { ...object, metadata };
}

describe.each(KINDS)('for any $kind', (like) => {
  test('applying the same object again is never a change', () => {
    forAll(like, ({ type, desired }) => {
      const live = write(undefined, desired, type, OWN);
      expect(compare(desired, live, type, OWN).result).not.toBe('changed');
      expect(write(live, desired, type, OWN)).toBe(live);
    });
  });

  test('applying the same normalised object again is known to change nothing, except for empty values', () => {
    forAll(like, ({ type, desired }) => {
      const normal = normalise(desired, type);
      const { result, reason = '' } = compare(normal, write(undefined, normal, type, OWN), type, OWN);
      if (result !== 'unchanged') expect(reason).toMatch(/empty|spelling|twice/);
    });
  });

  test('applying an object with the result unchanged changes nothing', () => {
    let unchanged = 0;
    forAll(like, ({ rng, type, desired, live }) => {
      // `normalise` removes nulls. After an applied null, empty values at its place cannot be compared.
      const again = rng.chance(0.5) ? desired : withoutNulls(edit(rng, desired, type));
      if (compare(again, live, type, OWN).result !== 'unchanged') return;
      unchanged += 1;
      const next = write(live, again, type, OWN);
      expect(withoutManagers(next)).toEqual(withoutManagers(live));
      expect(entryOf(next, OWN)?.fieldsV1).toEqual(entryOf(live, OWN)?.fieldsV1);
    });
    expect(unchanged).toBeGreaterThan(SEEDS / 10);
  });

  test('applying an object with the result changed changes the object or our owned fields', () => {
    let changed = 0;
    forAll(like, ({ rng, type, desired, live }) => {
      const again = edit(rng, desired, type);
      if (compare(again, live, type, OWN).result !== 'changed') return;
      changed += 1;
      expect(write(live, again, type, OWN)).not.toBe(live);
    });
    expect(changed).toBeGreaterThan(SEEDS / 10);
  });

  test('applying an object without differences changes at most its owners', () => {
    forAll(like, ({ rng, type, desired, live }) => {
      const again = edit(rng, desired, type);
      if (differences(again, live, type, OWN).length > 0) return;
      expect(withoutManagers(write(live, again, type, OWN))).toEqual(withoutManagers(live));
    });
  });

  test('the owned set of an object equals the set that a server records for its apply', () => {
    forAll(like, ({ type, desired, live }) => {
      const { set, misfits } = ownedSet(desired, type);
      expect(misfits).toEqual([]);
      const noted = entryOf(write(live, desired, type, OWN), OWN);
      const parsed = noted === undefined ? new Map() : parseFields(noted.fieldsV1);
      expect(parsed && equalSets(parsed, set)).toBe(true);
    });
  });

  test('sets are unchanged after formatting and parsing', () => {
    forAll(like, ({ type, desired }) => {
      const { set } = ownedSet(desired, type);
      const again = parseFields(JSON.parse(JSON.stringify(formatFields(set))));
      expect(again && equalSets(again, set)).toBe(true);
    });
  });

  test('normalising a normalised object changes nothing, and the argument is not modified', () => {
    forAll(like, ({ type, desired }) => {
      const copy = structuredClone(desired);
      const once = normalise(desired, type);
      expect(normalise(once, type)).toEqual(once);
      expect(desired).toEqual(copy);
    });
  });
});

test('the generator returns equal objects for equal seeds, and different objects for different seeds', () => {
  const texts = [1, 1, 2, 3].map((seed) => JSON.stringify(generate(random(seed), thing({}), typeOf(thing({})))));
  expect(texts[0]).toBe(texts[1]);
  expect(new Set(texts).size).toBe(3);
});
