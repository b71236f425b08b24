import { expect, test } from 'vitest';
import { KINDS } from '../../kinds/index.ts';
import { validate } from '../validate.ts';

const SERVER = { image: 'images.example.com/gamma:1', transport: 'stdio', description: 'Third' };
const HEAD = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPRegistry' };

function warnings(filter: object, servers: object = { gamma: SERVER, delta: SERVER }): readonly string[] {
  const configMapRef = { name: 'servers', key: 'servers.json' };
  const documents = [
    {
      ...HEAD,
      metadata: { name: 'catalogue', namespace: 'a' },
      spec: { registries: [{ name: 'b', configMapRef, filter }] },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'servers', namespace: 'a' },
      data: { 'servers.json': JSON.stringify({ servers }) },
    },
  ].map((object, index) => ({ path: `${index}.json`, oid: `${index}`, text: JSON.stringify(object) }));
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
  return problems.map(({ code, severity, pointer, message }) => `${severity} ${code} ${pointer} ${message}`);
}

test('a filter that keeps no entry of a ConfigMap next to the registry is a warning that names a served name', () => {
  expect(warnings({ names: { include: ['gamma'] } })).toEqual([
    'warning registry-filter-keeps-nothing /spec/registries/0/filter the filter keeps none of 2 entries; patterns see names as they are served, such as "io.github.stacklok/gamma"',
  ]);
});

test.each([
  ['keeps one', { names: { include: ['*/gamma'] } }, undefined],
  ['sees no entries', { names: { include: ['gamma'] } }, {}],
  ['excludes one', { names: { exclude: ['*/gamma'] } }, undefined],
])('a filter that %s is not', (_what, filter, servers) => {
  expect(warnings(filter, servers)).toEqual([]);
});
