// Tests which comparisons the next run reuses.

import { expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { PART_OF } from '../labels.ts';
import { openReuse } from '../reuse.ts';
import { diff } from './diff.ts';

const SET = 'ours';

function secret(data: JsonObject, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'child', namespace: 'docs', labels }, data };
}

function open() {
  const reuse = openReuse();
  const differing: string[] = [];
  return {
    differing,
    compare(object: KubeObject, live: KubeObject | undefined) {
      const id = idOf(object);
      const living = () => live;
      const inputs = { desired: [{ object, id, key: keyOf(id) }], living, live: live === undefined ? [] : [live] };
      return diff({ ...inputs, typeOf: () => undefined, manager: 'skep', applySet: SET, force: false, reuse })
        .compared[0];
    },
    endRun: () => reuse.ended(),
    prove: () => reuse.prove((stage, key) => void differing.push(`${stage} ${key}`)),
  };
}

test('a proof finds that a comparison with long values is unchanged', () => {
  const { compare, differing, endRun, prove } = open();
  const object = secret({ key: 'QUFB'.repeat(20_000) });
  compare(object, undefined);
  endRun();
  prove();
  compare(object, undefined);
  expect(differing).toEqual([]);
});

test.each([
  { owner: 'the instance', set: SET, isKept: true },
  { owner: 'someone else', set: 'theirs', isKept: false },
])('contents of a Secret of $owner stay in memory: $isKept', ({ set, isKept }) => {
  const { compare, endRun } = open();
  const [object, live] = [secret({ key: 'QUFB' }), secret({ key: 'QUJD' }, { [PART_OF]: set })];
  const before = compare(object, live);
  endRun();
  expect(compare(object, live) === before).toBe(isKept);
});
