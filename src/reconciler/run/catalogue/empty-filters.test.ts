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

test('a filter that no entry of the ConfigMap passes causes a warning with an example of a name', () => {
  expect(warnings({ names: { include: ['gamma'] } })).toEqual([
    'warning registry-filter-keeps-nothing /spec/registries/0/filter the filter keeps none of 2 entries; patterns see names as they are served, such as "io.github.stacklok/gamma"',
  ]);
});

test.each([
  ['keeps one', { names: { include: ['*/gamma'] } }, undefined],
  ['sees no entries', { names: { include: ['gamma'] } }, {}],
  ['excludes one', { names: { exclude: ['*/gamma'] } }, undefined],
])('a filter that %s causes no warning', (_what, filter, servers) => {
  expect(warnings(filter, servers)).toEqual([]);
});

test('for configYAML, the warning is about the filter in the text', () => {
  const configYAML = `sources:
  - name: mounted
    format: toolhive
    file: {path: /files/servers.json}
    filter: {names: {include: [gamma]}}
registries: [{name: b, sources: [mounted]}]
auth: {mode: anonymous}
`;
  const volumes = [{ name: 'files', configMap: { name: 'servers' } }];
  const volumeMounts = [{ name: 'files', mountPath: '/files' }];
  const documents = [
    { ...HEAD, metadata: { name: 'catalogue', namespace: 'a' }, spec: { configYAML, volumes, volumeMounts } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'servers', namespace: 'a' },
      data: { 'servers.json': JSON.stringify({ servers: { gamma: SERVER } }) },
    },
  ].map((object, index) => ({ path: `${index}.json`, oid: `${index}`, text: JSON.stringify(object) }));
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
  expect(problems.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
    'registry-filter-keeps-nothing /spec/configYAML/sources/0/filter',
  ]);
});
