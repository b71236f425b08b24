import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { bundledSchema } from '../../rules/schemas/bundled.ts';
import { decodeStruct } from './struct.ts';

function decode(apiVersion: string, schemaName: string, value: JsonObject) {
  const document = bundledSchema(apiVersion);
  if (document === undefined) throw new Error(`no schema of ${apiVersion}`);
  return decodeStruct(document, schemaName, value);
}

const CORE = 'io.k8s.api.core.v1.';

interface Row {
  readonly reason: string;
  readonly type: string;
  readonly given: JsonObject;
  readonly stored?: JsonObject;
  readonly unknown?: string[];
  readonly mismatch?: string;
}

const rows: readonly Row[] = [
  {
    reason: 'empty values of plain fields are dropped, and empty values of pointers are kept',
    type: `${CORE}PodSecurityContext`,
    given: { runAsUser: 0, runAsNonRoot: false, sysctls: [], supplementalGroups: null },
    stored: { runAsUser: 0, runAsNonRoot: false },
  },
  {
    reason: 'an integer beyond 64 bits',
    type: `${CORE}ConfigMap`,
    given: { metadata: { generation: 1e20 } },
    mismatch:
      'json: cannot unmarshal number 100000000000000000000 into Go struct field ObjectMeta.metadata.generation of type int64',
  },
  {
    reason: 'an integer beyond 32 bits',
    type: `${CORE}Volume`,
    given: { name: 'a', configMap: { defaultMode: 2 ** 31 } },
    mismatch:
      'json: cannot unmarshal number 2147483648 into Go struct field ConfigMapVolumeSource.configMap.defaultMode of type int32',
  },
  {
    reason: 'an empty struct stays',
    type: `${CORE}Volume`,
    given: { name: 'a', emptyDir: {} },
    stored: { name: 'a', emptyDir: {} },
  },
  {
    reason: 'a null in a map of texts is an empty text',
    type: `${CORE}ConfigMap`,
    given: { data: { a: null } },
    stored: { metadata: {}, data: { a: '' } },
  },
  {
    reason: 'fields that are always written appear',
    type: `${CORE}ServicePort`,
    given: { name: 'x' },
    stored: { name: 'x', port: 0, protocol: 'TCP', targetPort: 0 },
  },
  {
    reason: 'times and lists without a value are null if the server writes them as null',
    type: `${CORE}ProjectedVolumeSource`,
    given: {},
    stored: { sources: null, defaultMode: 420 },
  },
  {
    reason: 'quantities are stored in canonical form',
    type: `${CORE}ResourceRequirements`,
    given: { limits: { cpu: '1000m', memory: 1024 } },
    stored: { limits: { cpu: '1', memory: '1024' } },
  },
  {
    reason: 'line breaks in base64 are removed',
    type: `${CORE}Secret`,
    given: { data: { a: 'QUJD\nRA==' } },
    stored: { metadata: {}, type: 'Opaque', data: { a: 'QUJDRA==' } },
  },
  {
    reason: 'int-or-string keeps its type',
    type: `${CORE}TCPSocketAction`,
    given: { port: '80' },
    stored: { port: '80' },
  },
  {
    reason: 'unknown fields are named by their path, in the order of the document',
    type: `${CORE}Pod`,
    given: { x: 1, metadata: { labls: {} }, spec: { containers: [{ name: 'a', imagePullPolice: 'x' }] } },
    unknown: ['x', 'metadata.labls', 'spec.containers[0].imagePullPolice'],
  },
  {
    reason: 'a text for a number is a mismatch',
    type: `${CORE}ContainerPort`,
    given: { containerPort: '80' },
    mismatch: 'json: cannot unmarshal string into Go struct field ContainerPort.containerPort of type int32',
  },
  {
    reason: 'an object for a list is a mismatch',
    type: `${CORE}PodSpec`,
    given: { containers: {} },
    mismatch: 'json: cannot unmarshal object into Go struct field PodSpec.containers of type []v1.Container',
  },
  {
    reason: 'text that is not base64 is a mismatch',
    type: `${CORE}Secret`,
    given: { data: { a: 'QU?' } },
    mismatch: 'illegal base64 data at input byte 2',
  },
];

test.each(rows)('$reason', ({ type, given, stored, unknown, mismatch }) => {
  const decoded = decode('v1', type, given);
  if ('mismatch' in decoded) {
    expect(decoded.mismatch).toBe(mismatch);
    return;
  }
  expect(mismatch).toBeUndefined();
  if (stored !== undefined) expect(decoded.value).toEqual(stored);
  expect(decoded.unknown).toEqual(unknown ?? []);
});

test('decoding a decoded object changes nothing', () => {
  const once = decode('apps/v1', 'io.k8s.api.apps.v1.StatefulSet', {
    metadata: { name: 'a', labels: {} },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        spec: {
          containers: [{ name: 'a', image: 'a:1', ports: [{ containerPort: 1 }], env: [{ name: 'E', value: '' }] }],
        },
      },
      volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: { resources: { requests: { storage: '1024Mi' } } } }],
    },
  });
  if ('mismatch' in once) throw new Error(once.mismatch);
  const twice = decode('apps/v1', 'io.k8s.api.apps.v1.StatefulSet', once.value);
  expect(twice).toEqual(once);
});
