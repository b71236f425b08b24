import { expect, test } from 'vitest';
import { KINDS } from '../../kinds/index.ts';
import { validate } from '../validate.ts';

const GIT = (repository: string) => ({ git: { repository } });
const API = (endpoint: string) => ({ api: { endpoint } });

function warnings(source: object, allowsPrivate?: boolean): readonly string[] {
  const registry = {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPRegistry',
    metadata: { name: 'catalogue', namespace: 'a' },
    spec: {
      registries: [
        { name: 'public', api: { endpoint: 'https://registry.example.com' } },
        { name: 'b', ...source },
      ],
    },
  };
  const documents = [{ path: 'a.json', oid: 'a', text: JSON.stringify(registry) }];
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev', allowsPrivate });
  return problems.map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);
}

test.each([
  { reason: 'a private address', source: API('http://10.1.2.3:8080') },
  { reason: 'an IPv6 address', source: API('http://[fd00::1]/') },
  { reason: 'the machine itself', source: GIT('https://localhost/r.git') },
  { reason: 'a Service of the cluster', source: GIT('http://git.tools.svc.cluster.local/r.git') },
  { reason: 'a name of one word', source: GIT('ssh://git@git/r.git') },
])('a source inside a private network has a warning: $reason', ({ source }) => {
  const field = 'git' in source ? 'git/repository' : 'api/endpoint';
  expect(warnings(source)).toEqual([`warning source-address-private /spec/registries/1/${field}`]);
  expect(warnings(source, true)).toEqual([]);
});

test.each([API('https://8.8.8.8'), GIT('https://git.example.com/r.git'), GIT('file:///srv/r.git')])(
  'a public source has no warning: %j',
  (source) => {
    expect(warnings(source)).toEqual([]);
  },
);

test('for configYAML, the warning has the line of the manifest', () => {
  const text = `apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPRegistry
metadata: {name: catalogue, namespace: a}
spec:
  configYAML: |
    sources:
      - name: public
        api: {endpoint: "https://registry.example.com"}
      - name: inside
        file:
          url: http://files/registry.json
    registries:
      - {name: b, sources: [inside]}
      - {name: a, sources: [public]}
    auth: {mode: anonymous}
`;
  const documents = [{ path: 'a.yaml', oid: 'a', text }];
  const { problems } = validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
  expect(problems.map(({ code, pointer, place }) => [code, pointer, place?.line, place?.column])).toEqual([
    ['source-address-private', '/spec/configYAML/sources/1/file/url', 11, 16],
  ]);
});
