// Tests which state is kept if LISTs, events and our own writes arrive in another order than they happened.

import { expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { createKeptList, type KeptList } from './kept-list.ts';

function object(name: string, resourceVersion: string, more: Partial<KubeObject['metadata']> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'docs', resourceVersion, ...more } };
}

function listOf(version: string, ...objects: readonly KubeObject[]): KeptList {
  const list = createKeptList();
  list.replace({ version, objects }, list.beginList());
  return list;
}

function versionsIn(list: KeptList): Record<string, string | undefined> {
  return Object.fromEntries(list.objects().map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

function keyOfNamed(name: string): string {
  return keyOf(idOf(object(name, '')));
}

test('versions beyond 2^53 are compared as exact numbers', () => {
  const list = listOf('9007199254740992', object('a', '9007199254740992'));
  list.take({ type: 'MODIFIED', object: object('a', '9007199254740993') });
  expect(list.take({ type: 'MODIFIED', object: object('a', '9007199254740992') })).toBeUndefined();
  expect(versionsIn(list)).toEqual({ a: '9007199254740993' });
  list.take({ type: 'MODIFIED', object: object('a', '10000000000000000') });
  expect(versionsIn(list)).toEqual({ a: '10000000000000000' });
});

test('after the server was restored from a backup, a LIST replaces newer objects from events and writes', () => {
  const list = listOf('100', object('event', '90'), object('written', '91'), object('same', '92'));
  list.take({ type: 'MODIFIED', object: object('event', '180') });
  list.take({ type: 'ADDED', object: object('added', '190') });
  list.take({ type: 'DELETED', object: object('same', '195') });
  list.write(object('written', '200'), true);
  const restored = [object('event', '90'), object('written', '120'), object('same', '92')];
  list.replace({ version: '150', objects: restored }, list.beginList());
  expect(versionsIn(list)).toEqual({ event: '90', written: '120', same: '92' });
  list.take({ type: 'MODIFIED', object: object('event', '151') });
  expect(versionsIn(list)).toMatchObject({ event: '151' });
});

test('a LIST does not overwrite events that arrived during the LIST', () => {
  const list = listOf('100', object('a', '90'), object('b', '91'));
  const begun = list.beginList();
  list.take({ type: 'MODIFIED', object: object('a', '105') });
  list.take({ type: 'DELETED', object: object('b', '106') });
  list.write(object('c', '107'), true);
  list.replace({ version: '103', objects: [object('a', '102'), object('b', '91')] }, begun);
  expect(versionsIn(list)).toEqual({ a: '105', c: '107' });
});

test('without comparable versions, a LIST replaces everything', () => {
  const list = listOf('', object('a', 'x9'), object('b', 'x1'));
  list.replace({ version: '', objects: [object('a', 'x10')] }, list.beginList());
  expect(versionsIn(list)).toEqual({ a: 'x10' });
});

test('a doubt remains until a LIST that began after the doubt', () => {
  const list = listOf('100', object('a', '90'));
  const begun = list.beginList();
  list.doubt(keyOfNamed('a'));
  list.replace({ version: '101', objects: [object('a', '90')] }, begun);
  expect(list.hasDoubts()).toBe(true);
  list.replace({ version: '102', objects: [] }, list.beginList());
  expect(list.hasDoubts()).toBe(false);
});

test('the event of an earlier deletion does not end a doubt about a later deletion', () => {
  const list = listOf('100', object('a', '90'));
  list.write(object('a', '120', { uid: 'again' }), true);
  list.doubt(keyOfNamed('a'));
  list.take({ type: 'DELETED', object: object('a', '110', { uid: 'first' }) });
  expect(list.hasDoubts()).toBe(true);
  list.take({ type: 'DELETED', object: object('a', '130', { uid: 'again' }) });
  expect(list.hasDoubts()).toBe(false);
  expect(versionsIn(list)).toEqual({});
});

test('an object that our own write removed from the list is not added again by an earlier event', () => {
  const list = listOf('100');
  list.write(object('a', '120'), false);
  expect(list.take({ type: 'ADDED', object: object('a', '110') })).toBeUndefined();
  expect(versionsIn(list)).toEqual({});
  list.take({ type: 'MODIFIED', object: object('a', '130') });
  expect(versionsIn(list)).toEqual({ a: '130' });
});
