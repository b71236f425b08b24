// Tests strategic merge patches against results of an API server (Kubernetes 1.36, `kubectl patch --type=strategic
// --dry-run=server`). In one file, because nearly all cases patch a Deployment with the same schema.

import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { bundledSchema } from './schemas/bundled.ts';
import { patchTypeOf, strategicMerge } from './strategic.ts';

const document = bundledSchema('apps/v1');
assert(document !== undefined);
const DEPLOYMENT = patchTypeOf(document, { group: 'apps', version: 'v1', kind: 'Deployment' });
assert(DEPLOYMENT !== undefined);

const POD = {
  tolerations: [{ key: 'a' }],
  containers: [
    {
      name: 'a',
      args: ['x', 'y'],
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ],
      ports: [
        { containerPort: 80, protocol: 'TCP' },
        { containerPort: 80, protocol: 'UDP' },
      ],
      volumeMounts: [
        { name: 'v', mountPath: '/a' },
        { name: 'w', mountPath: '/b' },
      ],
    },
    { name: 'b', image: 'j' },
  ],
  volumes: [{ name: 'v', emptyDir: {} }],
};

function inPod(spec: JsonObject): JsonObject {
  return { spec: { template: { spec } } };
}

function patchPod(patch: JsonObject) {
  const { value, findings } = strategicMerge(inPod(POD), inPod(patch), DEPLOYMENT);
  return { pod: (value as { spec: { template: { spec: JsonObject } } }).spec.template.spec, findings };
}

describe('a strategic merge patch of a pod', () => {
  const [a, b] = POD.containers;
  assert(a !== undefined && b !== undefined);
  const rows: { reason: string; patch: JsonObject; changed: JsonObject }[] = [
    {
      reason: 'replaces a list without a merge strategy',
      patch: { containers: [{ name: 'a', args: ['z'] }] },
      changed: { containers: [{ ...a, args: ['z'] }, b] },
    },
    {
      reason: 'puts a new item of a merged list first',
      patch: { containers: [{ name: 'c', env: [{ name: 'Z', value: null }] }] },
      changed: { containers: [{ name: 'c', env: [{ name: 'Z' }] }, a, b] },
    },
    {
      reason: 'keeps the place of an item that it changes, and puts the next items of the patch behind it',
      patch: {
        containers: [
          {
            name: 'a',
            env: [
              { name: 'B', value: '3' },
              { name: 'C', value: '4' },
            ],
          },
        ],
      },
      changed: {
        containers: [
          {
            ...a,
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '3' },
              { name: 'C', value: '4' },
            ],
          },
          b,
        ],
      },
    },
    {
      reason: 'deletes an item that it names',
      patch: { containers: [{ name: 'b', $patch: 'delete' }] },
      changed: { containers: [a] },
    },
    {
      reason: 'replaces a merged list on request',
      patch: { containers: [{ $patch: 'replace' }, { name: 'q' }] },
      changed: { containers: [{ name: 'q' }] },
    },
    {
      reason: 'knows ports by containerPort alone, unlike server-side apply',
      patch: { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'http' }] }] },
      changed: {
        containers: [
          {
            ...a,
            ports: [
              { containerPort: 80, protocol: 'TCP', name: 'http' },
              { containerPort: 80, protocol: 'UDP' },
            ],
          },
          b,
        ],
      },
    },
    {
      reason: 'knows mounts by their path',
      patch: { containers: [{ name: 'a', volumeMounts: [{ mountPath: '/a', name: 'w' }] }] },
      changed: {
        containers: [
          {
            ...a,
            volumeMounts: [
              { name: 'w', mountPath: '/a' },
              { name: 'w', mountPath: '/b' },
            ],
          },
          b,
        ],
      },
    },
    {
      reason: 'drops fields that $retainKeys does not name',
      patch: { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'cm' } }] },
      changed: { volumes: [{ name: 'v', configMap: { name: 'cm' } }] },
    },
    {
      reason: 'drops fields that it sets to null',
      patch: { volumes: [{ name: 'v', emptyDir: null, configMap: { name: 'cm' } }] },
      changed: { volumes: [{ name: 'v', configMap: { name: 'cm' } }] },
    },
    {
      reason: 'replaces an atomic list of objects',
      patch: { tolerations: [{ key: 'b' }] },
      changed: { tolerations: [{ key: 'b' }] },
    },
    {
      reason: 'orders items by $setElementOrder',
      patch: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] },
      changed: { containers: [b, a] },
    },
    {
      reason: 'orders new items by $setElementOrder, and the rest after their former predecessors',
      patch: {
        containers: [
          { name: 'a', '$setElementOrder/env': [{ name: 'N' }, { name: 'B' }], env: [{ name: 'N', value: 'n' }] },
        ],
      },
      changed: {
        containers: [
          {
            ...a,
            env: [
              { name: 'N', value: 'n' },
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          },
          b,
        ],
      },
    },
    {
      reason: 'creates a missing object, without its nulls',
      patch: { securityContext: { runAsUser: 5, fsGroup: null } },
      changed: { securityContext: { runAsUser: 5 } },
    },
  ];
  it.each(rows)('$reason', ({ patch, changed }) => {
    expect(patchPod(patch)).toEqual({ pod: { ...POD, ...changed }, findings: [] });
  });
});

describe('a strategic merge patch of metadata', () => {
  const metadata = { labels: { a: '1', b: '2' }, finalizers: ['x.io/a', 'x.io/b'] };
  const rows: { reason: string; patch: JsonObject; changed: JsonObject }[] = [
    {
      reason: 'removes a label by null',
      patch: { labels: { a: null, c: '3' } },
      changed: { labels: { b: '2', c: '3' } },
    },
    { reason: 'empties a map', patch: { labels: { $patch: 'delete' } }, changed: { labels: {} } },
    { reason: 'replaces a map', patch: { labels: { $patch: 'replace', z: '1' } }, changed: { labels: { z: '1' } } },
    {
      reason: 'unites lists of plain values',
      patch: { finalizers: ['x.io/b', 'x.io/c'] },
      changed: { finalizers: ['x.io/a', 'x.io/b', 'x.io/c'] },
    },
    {
      reason: 'takes plain values out of a list',
      patch: { '$deleteFromPrimitiveList/finalizers': ['x.io/a'] },
      changed: { finalizers: ['x.io/b'] },
    },
    {
      reason: 'takes out, adds and orders plain values at once',
      patch: {
        '$deleteFromPrimitiveList/finalizers': ['x.io/a'],
        '$setElementOrder/finalizers': ['x.io/c', 'x.io/b'],
        finalizers: ['x.io/c'],
      },
      changed: { finalizers: ['x.io/c', 'x.io/b'] },
    },
  ];
  it.each(rows)('$reason', ({ patch, changed }) => {
    const { value, findings } = strategicMerge({ metadata }, { metadata: patch }, DEPLOYMENT);
    expect({ value, findings }).toEqual({ value: { metadata: { ...metadata, ...changed } }, findings: [] });
  });
});

describe('a broken strategic merge patch', () => {
  const rows = [
    {
      reason: 'an item without its key',
      patch: { containers: [{ image: 'x' }] },
      found: 'patch-key-missing at /spec/template/spec/containers/0',
    },
    {
      reason: 'a directive that does not exist',
      patch: { containers: [{ name: 'a', $patch: 'bogus' }] },
      found: 'patch-directive-unknown at /spec/template/spec/containers/0',
    },
    {
      reason: 'a field that it does not retain itself',
      patch: { volumes: [{ name: 'v', $retainKeys: ['name'], configMap: {} }] },
      found: 'patch-retain-keys at /spec/template/spec/volumes/0',
    },
  ];
  it.each(rows)('is reported: $reason', ({ patch, found }) => {
    expect(patchPod(patch).findings.map(({ code, pointer }) => `${code} at ${pointer}`)).toEqual([found]);
  });
});

it('does not change its arguments', () => {
  const before = structuredClone(POD);
  patchPod({ containers: [{ name: 'a', env: [{ name: 'B', $patch: 'delete' }] }] });
  expect(POD).toEqual(before);
});

it('merges maps and replaces lists if no type is known', () => {
  const { value } = strategicMerge({ a: { b: 1, c: [1] } }, { a: { c: [2], d: null } }, undefined);
  expect(value).toEqual({ a: { b: 1, c: [2] } });
});
