import { expect, test } from 'vitest';
import type { Json } from '#std/json.ts';
import { parseJsonPath, valuesAt } from './json-path.ts';

const OBJECT: Json = {
  metadata: { labels: { 'example.dev/tier': 'edge' } },
  spec: {
    size: 3,
    list: ['p', 'q'],
    empty: [],
    ports: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ],
  },
};

const rows: readonly { path: string; values: Json[] | undefined }[] = [
  { path: '.spec.size', values: [3] },
  { path: '.spec.absent', values: [] },
  { path: '.spec.size.deeper', values: [] },
  { path: '.spec.list[0]', values: ['p'] },
  { path: '.spec.list[-1]', values: ['q'] },
  { path: '.spec.list[7]', values: [] },
  { path: '.spec.list[*]', values: ['p', 'q'] },
  { path: '.spec.list', values: [['p', 'q']] },
  { path: '.spec.ports[*].name', values: ['a', 'b'] },
  { path: '.spec.ports[?(@.port==2)].name', values: ['b'] },
  { path: '.status.conditions[?(@.type=="Ready")].status', values: ['True'] },
  { path: ".status.conditions[?(@.type!='Ready')].type", values: ['Synced'] },
  { path: '.metadata.labels.example\\.dev/tier', values: ['edge'] },
  { path: ".metadata.labels['example.dev/tier']", values: ['edge'] },
  { path: ".spec['size','absent']", values: [3] },
  { path: ".spec['absent', 'list'][0]", values: ['p'] },
  { path: ".spec['size',]", values: undefined },
  { path: 'spec', values: undefined },
  { path: '.spec[', values: undefined },
  { path: '.spec..size', values: undefined },
  { path: '.spec.list[?(@.x)]', values: undefined },
];

test.each(rows)('$path', ({ path, values }) => {
  const parsed = parseJsonPath(path);
  expect(parsed === undefined ? undefined : valuesAt(OBJECT, parsed)).toEqual(values);
});
