// Tests that manifests for operators of Secrets are checked without the CRDs of these operators.

import { expect, test } from 'vitest';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '../../../kinds/index.ts';
import { type LoadInput, load } from '../load.ts';

function check(texts: readonly string[], foreign: LoadInput['foreign'] = 'unchecked') {
  const documents = texts.map((text, index) => ({ path: `${index}.yaml`, oid: String(index), text }));
  const { problems } = load({
    ...{ source: 'x', documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev', builtin: bundledSchema, foreign },
  });
  return problems.map(({ code, severity, pointer = '' }) => `${severity} ${code} ${pointer}`);
}

function externalSecret(spec: string, apiVersion = 'external-secrets.io/v1'): string {
  return `{apiVersion: ${apiVersion}, kind: ExternalSecret, metadata: {name: x, namespace: tools}, spec: ${spec}}`;
}

const VAULT = 'apiVersion: secrets.hashicorp.com/v1beta1, metadata: {name: x, namespace: tools}';

test.each([
  externalSecret(
    '{refreshInterval: 1h, secretStoreRef: {name: s, kind: ClusterSecretStore}, target: {name: t, creationPolicy: Owner, template: {type: Opaque, data: {a: "{{ .a }}"}}}, data: [{secretKey: a, remoteRef: {key: k, property: p, version: "1"}}], dataFrom: [{extract: {key: k}}, {find: {name: {regexp: ".*"}}, rewrite: [{regexp: {source: a, target: b}}]}]}',
  ),
  externalSecret('{secretStoreRef: {name: s}, data: []}', 'external-secrets.io/v1beta1'),
  '{apiVersion: external-secrets.io/v1, kind: SecretStore, metadata: {name: x, namespace: tools}, spec: {provider: {vault: {server: "https://vault", path: kv, auth: {kubernetes: {role: r}}}}}}',
  '{apiVersion: external-secrets.io/v1, kind: ClusterSecretStore, metadata: {name: x}, spec: {provider: {onepasswordSDK: {vault: v}}}}',
  '{apiVersion: external-secrets.io/v1, kind: ClusterExternalSecret, metadata: {name: x}, spec: {namespaces: [a], externalSecretSpec: {secretStoreRef: {name: s}}}}',
  '{apiVersion: external-secrets.io/v1alpha1, kind: PushSecret, metadata: {name: x, namespace: tools}, spec: {secretStoreRefs: [{name: s}], selector: {secret: {name: t}}, data: [{match: {secretKey: a, remoteRef: {remoteKey: b}}}]}}',
  `{${VAULT}, kind: VaultConnection, spec: {address: "https://vault:8200", skipTLSVerify: false}}`,
  `{${VAULT}, kind: VaultAuth, spec: {method: kubernetes, mount: kubernetes, kubernetes: {role: r, serviceAccount: s, audiences: [vault]}}}`,
  `{${VAULT}, kind: VaultStaticSecret, spec: {mount: kv, type: kv-v2, path: p, version: 2, refreshAfter: 30s, destination: {name: t, create: true}, rolloutRestartTargets: [{kind: Deployment, name: d}]}}`,
  `{${VAULT}, kind: VaultDynamicSecret, spec: {mount: db, path: creds/x, renewalPercent: 67, destination: {name: t}}}`,
  `{${VAULT}, kind: VaultPKISecret, spec: {mount: pki, role: r, commonName: a.example.com, destination: {name: t}}}`,
  `{${VAULT}, kind: VaultAuthGlobal, spec: {kubernetes: {role: r}}}`,
  '{apiVersion: onepassword.com/v1, kind: OnePasswordItem, metadata: {name: x, namespace: tools}, type: Opaque, spec: {itemPath: vaults/v/items/i}}',
])('is valid: %.110s', (text) => expect(check([text])).toEqual([]));

test.each([
  { text: externalSecret('{data: [{secretKey: a}]}'), problem: 'error schema-required /spec/data/0/remoteRef' },
  { text: externalSecret('{refreshInterval: 5}'), problem: 'error schema-type /spec/refreshInterval' },
  { text: externalSecret('{refreshIntervall: 5m}'), problem: 'warning schema-unknown-field /spec/refreshIntervall' },
  {
    text: externalSecret('{target: {creationPolicy: Later}}'),
    problem: 'warning schema-enum /spec/target/creationPolicy',
  },
  {
    text: `{${VAULT}, kind: VaultStaticSecret, spec: {mount: kv, type: kv-v2, destination: {name: t}}}`,
    problem: 'error schema-required /spec/path',
  },
  {
    text: '{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: x}, spec: {}}',
    problem: 'error invalid-namespace /metadata/namespace',
  },
])('is invalid: $problem', ({ text, problem }) => expect(check([text])).toEqual([problem]));

test('an unknown kind of the same group is not checked', () => {
  const text = '{apiVersion: external-secrets.io/v1, kind: Other, metadata: {name: x}}';
  expect(check([text])).toEqual(['warning kind-not-checked /kind']);
});

test('a CRD among the manifests takes precedence', () => {
  const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: externalsecrets.external-secrets.io}
spec:
  group: external-secrets.io
  scope: Namespaced
  names: {kind: ExternalSecret, plural: externalsecrets}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {fresh: {type: boolean}}}}}}
`;
  expect(check([definition, externalSecret('{fresh: true}')])).toEqual([]);
  expect(check([definition, externalSecret('{data: []}')])).toEqual(['error schema-unknown-field /spec/data']);
});

test('a run does not use these schemas, because it can read the cluster', () => {
  expect(check([externalSecret('{}')], 'refused')).toEqual(['error unknown-kind /kind']);
});
