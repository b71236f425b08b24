import { describe, expect, test } from 'vitest';
import type { Json } from '#std/json.ts';
import { dnsLabelFault } from '../formats/names.ts';
import { checkMetadata } from './metadata.ts';

function found(metadata: Json): string[] {
  return checkMetadata(metadata, '/metadata').map(({ code, pointer }) => `${code} ${pointer}`);
}

/** The expected results come from an API server (Kubernetes 1.36). */
describe('metadata', () => {
  test.each<{ metadata: Json; at: string[]; reason: string }>([
    {
      metadata: { name: 'x', labels: { 'a.b/c': 'v', d: '' }, annotations: { 'UPPER.com/x': 'y' } },
      at: [],
      reason: 'upper case in an annotation’s prefix is taken',
    },
    { metadata: { name: 'x', creationTimestamp: null, labels: null }, at: [], reason: 'null counts as absent' },
    { metadata: { name: 'x', labels: { a: null } }, at: [], reason: 'in a label, too' },
    { metadata: { name: 'x', finalizers: ['foo'] }, at: [], reason: 'finalizers need no domain' },
    { metadata: [], at: ['schema-type /metadata'], reason: 'a mapping is needed' },
    {
      metadata: { nmae: 'x' },
      at: ['schema-unknown-field /metadata/nmae'],
      reason: 'unknown fields are not dropped silently',
    },
    { metadata: { name: 5 }, at: ['schema-type /metadata/name'], reason: 'a name is a string' },
    { metadata: { name: 'X_y' }, at: ['invalid-name /metadata/name'], reason: 'a name is a subdomain' },
    {
      metadata: { name: 'x', namespace: 'a.b' },
      at: ['invalid-name /metadata/namespace'],
      reason: 'a namespace is a label',
    },
    {
      metadata: { name: 'x', uid: 'a', resourceVersion: '5', managedFields: [] },
      at: [
        'invalid-metadata /metadata/uid',
        'invalid-metadata /metadata/resourceVersion',
        'invalid-metadata /metadata/managedFields',
      ],
      reason: 'fields that a copy of an existing object has are refused by an apply',
    },
    {
      metadata: { name: 'x', uid: '', resourceVersion: null, creationTimestamp: '2026-01-01T00:00:00Z', generation: 3 },
      at: [],
      reason: 'fields that the server ignores are accepted',
    },
    { metadata: { labels: [] }, at: ['schema-type /metadata/labels'], reason: 'labels are a mapping' },
    { metadata: { labels: { a: 1 } }, at: ['schema-type /metadata/labels/a'], reason: 'label values are strings' },
    {
      metadata: { labels: { 'UPPER.com/x': 'y' } },
      at: ['invalid-label /metadata/labels/UPPER.com~1x'],
      reason: 'upper case in a label’s prefix is not',
    },
    {
      metadata: { labels: { 'a/b/c': 'y' } },
      at: ['invalid-label /metadata/labels/a~1b~1c'],
      reason: 'one slash at most',
    },
    {
      metadata: { labels: { a: 'x'.repeat(64) } },
      at: ['invalid-label /metadata/labels/a'],
      reason: 'label values are short',
    },
    {
      metadata: { annotations: { 'A B': 'x' } },
      at: ['invalid-annotation /metadata/annotations/A B'],
      reason: 'annotation keys are names',
    },
    {
      metadata: { annotations: { a: 'x'.repeat(300_000) } },
      at: ['invalid-annotation /metadata/annotations'],
      reason: 'annotations are limited together',
    },
    {
      metadata: { finalizers: ['a b'] },
      at: ['invalid-metadata /metadata/finalizers/0'],
      reason: 'finalizers are names',
    },
    {
      metadata: { ownerReferences: [{ kind: 'A' }] },
      at: ['apiVersion', 'name', 'uid'].map((field) => `invalid-metadata /metadata/ownerReferences/0/${field}`),
      reason: 'an owner is named in full',
    },
    {
      metadata: {
        ownerReferences: ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'X', name, uid: name, controller: true })),
      },
      at: ['invalid-metadata /metadata/ownerReferences'],
      reason: 'only one owner controls',
    },
  ])('$reason', ({ metadata, at }) => {
    expect(found(metadata)).toEqual(at);
  });

  test('names of some kinds must have another form', () => {
    expect(checkMetadata({ name: 'a.b' }, '/metadata', dnsLabelFault)).toMatchObject([{ code: 'invalid-name' }]);
  });
});
