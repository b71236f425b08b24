// Tests the differences that users see: path, current value and new value.

import { expect, test } from 'vitest';
import { deployment, object, thing, typeOf } from '../../../../test/kubernetes/rules/thing.ts';
import type { KubeObject } from '../object.ts';
import { type Difference, differences } from './differences.ts';
import { serverSideApply } from './write/apply.ts';

const OWN = 'skep-test';

/** Returns `live` with the managedFields after we applied `before` and the other managers applied `others`. */
function living(before: KubeObject, live: KubeObject, others: Record<string, KubeObject> = {}): KubeObject {
  let metadata = applied(undefined, before, OWN).metadata;
  for (const [manager, object] of Object.entries(others)) {
    metadata = applied({ ...live, metadata }, object, manager).metadata;
  }
  return { ...live, metadata };
}

function applied(live: KubeObject | undefined, desired: KubeObject, manager: string): KubeObject {
  const { apiVersion } = desired;
  const context = { applied: desired, type: typeOf(desired), manager, apiVersion, force: true, time: '' };
  const result = serverSideApply(live === undefined ? context : { ...context, live });
  if (!('object' in result)) throw new Error(JSON.stringify(result));
  return result.object;
}

function text({ path, before, after }: Difference): string {
  const show = (value: unknown): string => (value === undefined ? '-' : JSON.stringify(value));
  return `${path}: ${show(before)} > ${show(after)}`;
}

interface Row {
  /** The object that we applied before. Defaults to the live object. */
  readonly before?: KubeObject;
  readonly live: KubeObject;
  readonly desired: KubeObject;
  readonly others?: Record<string, KubeObject>;
  readonly is: readonly string[];
  readonly reason: string;
}

const ROWS: readonly Row[] = [
  { live: thing({ image: 'i' }), desired: thing({ image: 'i' }), is: [], reason: 'nothing differs' },
  {
    live: thing({ image: 'i' }),
    desired: thing({ image: 'j', replicas: 2 }),
    is: ['/spec/image: "i" > "j"', '/spec/replicas: - > 2'],
    reason: 'a changed and a new field, sorted',
  },
  {
    live: thing({ image: 'i', replicas: 2 }),
    desired: thing({ image: 'i' }),
    is: ['/spec/replicas: 2 > -'],
    reason: 'a field that we owned and no longer declare',
  },
  {
    live: thing({ image: 'i', replicas: 2 }),
    others: { other: thing({ replicas: 2 }) },
    desired: thing({ image: 'i' }),
    is: [],
    reason: 'a field that another owns too stays',
  },
  {
    before: thing({ image: 'i' }),
    live: thing({ image: 'i', replicas: 2 }),
    desired: thing({ image: 'i' }),
    is: [],
    reason: 'a field without an owner stays',
  },
  {
    live: deployment({ containers: [{ name: 'a', image: '1' }, { name: 'b' }] }),
    desired: deployment({ containers: [{ name: 'a', image: '2' }, { name: 'c' }] }),
    is: [
      '/spec/template/spec/containers/[name=a]/image: "1" > "2"',
      '/spec/template/spec/containers/[name=b]: {"name":"b"} > -',
      '/spec/template/spec/containers/[name=c]: - > {"name":"c"}',
    ],
    reason: 'items by name, new and removed ones whole',
  },
  {
    live: thing({ ports: [{ port: 80, protocol: 'TCP' }], tags: ['a', 'x/y'] }),
    desired: thing({ ports: [{ port: 80, name: 'n' }], tags: ['a'] }),
    is: [
      '/spec/ports/[port=80,protocol=TCP]/name: - > "n"',
      '/spec/ports/[port=80,protocol=TCP]/protocol: "TCP" > -',
      '/spec/tags/[=x~1y]: "x/y" > -',
    ],
    reason: 'several keys, values of sets, escaped as in a pointer',
  },
  {
    live: thing({ tags: ['a', 'b'] }),
    desired: thing({ tags: ['b', 'a'] }),
    is: ['/spec/tags: ["a","b"] > ["b","a"]'],
    reason: 'another order',
  },
  {
    live: thing({ steps: [{ name: 'a', timeout: 80, options: { a: 'x' } }] }),
    desired: thing({ steps: [{ name: 'b' }] }),
    is: ['/spec/steps/0/name: "a" > "b"'],
    reason: 'inside an atomic list, by position; defaults are not a difference',
  },
  {
    live: thing({ steps: [{ name: 'a' }] }),
    desired: thing({ steps: [] }),
    is: ['/spec/steps: [{"name":"a"}] > []'],
    reason: 'an atomic list of another length, whole',
  },
  {
    live: object('v1', 'ConfigMap', { metadata: { name: 'a', annotations: { 'a/b': '1' } }, data: { k: 'x' } }),
    desired: object('v1', 'ConfigMap', { metadata: { name: 'a' }, data: { k: 'x' } }),
    is: ['/metadata/annotations: {"a/b":"1"} > -'],
    reason: 'a map that is removed because only we owned its content',
  },
  {
    live: object('v1', 'Secret', { data: { a: 'eA==' } }),
    desired: object('v1', 'Secret', { data: { a: 'eA==' }, stringData: { a: 'y' } }),
    is: ['/data/a: "eA==" > "eQ=="'],
    reason: 'stringData as the data that it becomes',
  },
  {
    live: deployment({ containers: [{ name: 'c' }] }),
    desired: deployment({ containers: [{ name: 'c', securityContext: { allowPrivilegeEscalation: false } }] }),
    is: ['/spec/template/spec/containers/[name=c]/securityContext/allowPrivilegeEscalation: - > false'],
    reason: 'an empty value at a place that was not ours before: it may be stored now',
  },
  {
    before: deployment({ hostNetwork: false }),
    live: deployment({}),
    desired: deployment({ hostNetwork: false }),
    is: [],
    reason: 'an empty value at a place that is ours: it was never stored',
  },
  {
    live: object('v1', 'ConfigMap', { metadata: { name: 'a' }, data: { k: 'x' } }),
    desired: object('v1', 'ConfigMap', { metadata: { name: 'a', labels: { a: '' } }, data: { k: 'x' } }),
    is: ['/metadata/labels/a: - > ""'],
    reason: 'an empty label',
  },
  {
    before: thing({ image: 'i', replicas: 1 }),
    live: { ...thing({ image: 'i', replicas: 1 }), status: { phase: 'Up' } },
    desired: { ...thing({ image: 7, replicas: 1 }), status: { phase: 'Down' } },
    is: ['/spec/image: "i" > 7'],
    reason: 'an object that the server refuses removes nothing; status is not ours',
  },
];

test.each(ROWS)('$reason', ({ before, live, desired, others, is }) => {
  const found = differences(desired, living(before ?? live, live, others), typeOf(desired), OWN);
  expect(found.map(text)).toEqual(is);
});

test('the order of keys in the desired object has no effect', () => {
  const live = living(thing({}), thing({}));
  const [a, b] = [thing({ image: 'i', env: { B: '2', A: '1' } }), thing({ env: { A: '1', B: '2' }, image: 'i' })];
  expect(differences(a, live, typeOf(a), OWN)).toEqual(differences(b, live, typeOf(b), OWN));
});
