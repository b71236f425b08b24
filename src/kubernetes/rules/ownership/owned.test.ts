// Tests the fields that a manager owns after an apply, and the objects that the server refuses (reference: "The owned
// set").

import { describe, expect, test } from 'vitest';
import { deployment, object, thing, typeOf } from '../../../../test/kubernetes/rules/thing.ts';
import type { KubeObject } from '../object.ts';
import { paths } from './fieldset.ts';
import { ownedSet } from './owned.ts';
import { pointerOf, serverPath } from './place.ts';

function owned(desired: KubeObject): string[] {
  const { set, misfits } = ownedSet(desired, typeOf(desired));
  expect(misfits).toEqual([]);
  return paths(set).map(pointerOf);
}

function inThing(spec: KubeObject[string]): string[] {
  return owned(thing(spec)).map((path) => path.replace('/spec/', ''));
}

const C = '/spec/template/spec/containers/[name=c]';

const THINGS: readonly { spec: KubeObject[string]; owns: string[]; reason: string }[] = [
  { spec: { replicas: 2 }, owns: ['replicas'], reason: 'a scalar' },
  { spec: { nested: { x: 1 } }, owns: ['nested/x'], reason: 'a granular map of declared fields is not owned itself' },
  { spec: { nested: {} }, owns: ['nested'], reason: 'unless it is empty' },
  { spec: { nested: null }, owns: ['nested'], reason: 'or null' },
  { spec: { env: { A: '1' } }, owns: ['env/A'], reason: 'a key of a free-form map' },
  { spec: { selector: { a: '1' } }, owns: ['selector'], reason: 'an atomic map' },
  { spec: { selector: {} }, owns: ['selector'], reason: 'an empty atomic map' },
  { spec: { steps: [{ name: 'a' }] }, owns: ['steps'], reason: 'an atomic list' },
  { spec: { steps: [] }, owns: ['steps'], reason: 'an empty atomic list' },
  { spec: { tags: ['b', 'a'] }, owns: ['tags/[=a]', 'tags/[=b]'], reason: 'items of a set by value' },
  { spec: { tags: [] }, owns: [], reason: 'an empty associative list is not owned at all' },
  { spec: { tags: null }, owns: ['tags'], reason: 'null is' },
  {
    spec: { ports: [{ port: 80, protocol: 'UDP' }] },
    owns: [
      'ports/[port=80,protocol=UDP]',
      'ports/[port=80,protocol=UDP]/port',
      'ports/[port=80,protocol=UDP]/protocol',
    ],
    reason: 'an item and its fields',
  },
  {
    spec: { ports: [{ port: 80 }] },
    owns: ['ports/[port=80,protocol=TCP]', 'ports/[port=80,protocol=TCP]/port'],
    reason: 'an absent key field takes its default in the name, but is not owned',
  },
  {
    spec: { ports: [{ protocol: 'UDP' }] },
    owns: ['ports/[protocol=UDP]', 'ports/[protocol=UDP]/protocol'],
    reason: 'a key field with neither value nor default is left out',
  },
  {
    spec: { ports: [{ port: 80, protocol: null }] },
    owns: [
      'ports/[port=80,protocol=null]',
      'ports/[port=80,protocol=null]/port',
      'ports/[port=80,protocol=null]/protocol',
    ],
    reason: 'a null key field does not take its default',
  },
  {
    spec: { free: { a: { b: 1, c: {} }, l: [{ x: 1 }] } },
    owns: ['free/a', 'free/l', 'free/a/b', 'free/a/c'],
    reason: 'inside free-form objects every map is owned itself and lists are atomic',
  },
  {
    spec: { semi: { known: { z: 'z', q: 1 }, other: 1 } },
    owns: ['semi/other', 'semi/known/q', 'semi/known/z'],
    reason: 'preserving is inherited for ownership',
  },
];

test.each(THINGS)('$spec owns $owns: $reason', ({ spec, owns }) => {
  expect(inThing(spec)).toEqual(owns);
});

const OBJECTS: readonly { desired: KubeObject; owns: string[]; reason: string }[] = [
  {
    desired: deployment({ containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] }),
    owns: [
      C,
      `${C}/image`,
      `${C}/name`,
      `${C}/ports/[containerPort=80,protocol=TCP]`,
      `${C}/ports/[containerPort=80,protocol=TCP]/containerPort`,
    ],
    reason: 'built-in kinds',
  },
  {
    desired: object('v1', 'ConfigMap', {
      metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 2, labels: { a: 'b' } },
    }),
    owns: ['/metadata/labels/a'],
    reason: 'identity and fields of the server are never owned',
  },
  {
    desired: { ...thing({ image: 'i' }), status: { phase: 'Up' } },
    owns: ['/spec/image'],
    reason: 'status is not owned through the main resource',
  },
  {
    desired: object('v1', 'Secret', { stringData: { a: 'b' } }),
    owns: ['/stringData/a'],
    reason: 'stringData is owned as written',
  },
  {
    desired: object('v1', 'ConfigMap', { metadata: { name: 'a', ownerReferences: [{ uid: 'u', name: 'o' }] } }),
    owns: ['/metadata/ownerReferences/[uid=u]'],
    reason: 'owner references by uid, each an atomic map',
  },
];

test.each(OBJECTS)('$desired.kind owns $owns: $reason', ({ desired, owns }) => {
  expect(owned(desired)).toEqual(owns);
});

describe('the server refuses', () => {
  const REFUSED: readonly { desired: KubeObject; path: string; reason: string }[] = [
    { desired: thing({ image: 7 }), path: '.spec.image', reason: 'a number for a string' },
    { desired: thing({ replicas: '7' }), path: '.spec.replicas', reason: 'a string for a number' },
    { desired: thing({ enabled: 'yes' }), path: '.spec.enabled', reason: 'a string for a boolean' },
    { desired: thing({ nested: 'x' }), path: '.spec.nested', reason: 'a scalar for an object' },
    { desired: thing({ tags: {} }), path: '.spec.tags', reason: 'an object for a list' },
    { desired: thing({ steps: [{ name: 7 }] }), path: '.spec.steps[0].name', reason: 'also inside atomic values' },
    { desired: thing({ nonsense: 1 }), path: '.spec.nonsense', reason: 'an unknown field' },
    { desired: thing({ tags: ['a', 'a'] }), path: '.spec.tags[="a"]', reason: 'an item twice' },
    {
      desired: thing({ ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] }),
      path: '.spec.ports[port=80,protocol="TCP"]',
      reason: 'the same name by default and by value',
    },
    { desired: thing({ ports: ['x'] }), path: '.spec.ports[0]', reason: 'an item that is not an object' },
    { desired: thing({ ports: [null] }), path: '.spec.ports[0]', reason: 'a null item' },
    { desired: thing({ tags: [['x']] }), path: '.spec.tags[0]', reason: 'a list in a set' },
    { desired: thing({ tags: [null] }), path: '.spec.tags[0]', reason: 'null in a set' },
    {
      desired: object('v1', 'ServiceAccount', { secrets: [{ kind: 'x' }] }),
      path: '.secrets[0]',
      reason: 'an item with none of its keys',
    },
  ];

  test.each(REFUSED)('$path: $reason', ({ desired, path }) => {
    const { misfits } = ownedSet(desired, typeOf(desired));
    expect(misfits.map(({ elements }) => serverPath(elements))).toEqual([path]);
  });

  test('but accepts an item whose key has a published default, even an empty default', () => {
    expect(owned(object('v1', 'ConfigMap', { metadata: { name: 'a', ownerReferences: [{ name: 'o' }] } }))).toEqual([
      '/metadata/ownerReferences/[uid=]',
    ]);
  });

  test('and reports every misfit, not only the first', () => {
    const { misfits } = ownedSet(thing({ image: 7, tags: ['a', 'a'] }), typeOf(thing({})));
    expect(misfits.map(({ elements, reason }) => `${serverPath(elements)}: ${reason}`)).toEqual([
      '.spec.image: a string is expected',
      '.spec.tags[="a"]: two items of the list have the same name',
    ]);
  });
});
