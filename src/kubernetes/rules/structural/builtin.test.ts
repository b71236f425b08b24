import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { bundledSchema } from '../schemas/bundled.ts';
import { checkBuiltin } from './builtin.ts';

function found(apiVersion: string, kind: string, object: JsonObject): string[] | undefined {
  const document = bundledSchema(apiVersion);
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  if (document === undefined) return undefined;
  return checkBuiltin(document, { group, version, kind }, object)?.map(({ code, message }) => `${code}: ${message}`);
}

function deployment(container: JsonObject, spec: JsonObject = {}): JsonObject {
  const containers = [{ name: 'c', ...container }];
  return { spec: { selector: { matchLabels: { app: 'c' } }, ...spec, template: { spec: { containers } } } };
}

function definition(openAPIV3Schema: JsonObject): JsonObject {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  return { spec: { group: 'example.com', scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions } };
}

/** The expected results come from an API server with fieldValidation=Strict (Kubernetes 1.36). */
describe('a built-in object', () => {
  test.each<{ reason: string; apiVersion: string; kind: string; object: JsonObject; says: string[] }>([
    {
      reason: 'null counts as absent',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      object: { data: null, immutable: null },
      says: [],
    },
    {
      reason: 'a value of a map may be null',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      object: { data: { a: null } },
      says: [],
    },
    {
      reason: 'a value of a map has its type',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      object: { data: { a: 1 } },
      says: ['schema-type: data.a must be a string, not an integer: put it in quotes.'],
    },
    {
      reason: 'fields are distinguished by case',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      object: { Data: {} },
      says: ['schema-unknown-field: ConfigMap has no field "Data". Did you mean "data"?'],
    },
    {
      reason: 'bytes are base64',
      apiVersion: 'v1',
      kind: 'Secret',
      object: { data: { a: '%%' } },
      says: ['schema-format: data.a must be base64 text.'],
    },
    {
      reason: 'base64 may have line breaks',
      apiVersion: 'v1',
      kind: 'Secret',
      object: { data: { a: 'aGVs\nbG8=\n' } },
      says: [],
    },
    {
      reason: 'an unknown field deep inside',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ name: 'c', imgae: 'x' }),
      says: ['schema-unknown-field: spec.template.spec.containers[0] has no field "imgae". Did you mean "image"?'],
    },
    {
      reason: 'a number is not a string',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ name: 'c', env: [{ name: 'A', value: 1 }] }),
      says: [
        'schema-type: spec.template.spec.containers[0].env[0].value must be a string, not an integer: put it in quotes.',
      ],
    },
    {
      reason: 'a variable that is listed twice cannot be applied',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ env: [{ name: 'A' }, { name: 'B' }, { name: 'A', value: 'b' }] }),
      says: ['schema-duplicate-item: spec.template.spec.containers[0].env[2] has the same name as entry 0.'],
    },
    {
      reason: 'ports are distinguished by number and protocol, which is TCP by default',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({
        ports: [{ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }, { containerPort: 53, protocol: 'TCP' }],
      }),
      says: [
        'schema-duplicate-item: spec.template.spec.containers[0].ports[2] has the same containerPort and protocol as entry 0.',
      ],
    },
    {
      reason: 'a string is not a number',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({}, { replicas: '3' }),
      says: ['schema-type: spec.replicas must be an integer of 32 bits, not a string.'],
    },
    {
      reason: 'a fraction is not an integer',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({}, { replicas: 3.5 }),
      says: ['schema-type: spec.replicas must be an integer of 32 bits, not a number with a fraction.'],
    },
    {
      reason: 'an integer has 32 bits',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({}, { replicas: 3_000_000_000 }),
      says: ['schema-type: spec.replicas must be an integer of 32 bits, not an integer.'],
    },
    {
      reason: 'a mapping is not a list',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: { spec: { selector: {}, template: { spec: { containers: { name: 'c' } } } } },
      says: ['schema-type: spec.template.spec.containers must be a list, not a mapping.'],
    },
    {
      reason: 'a quantity may be a number',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ resources: { limits: { cpu: 1, memory: '1Gi' } } }),
      says: [],
    },
    {
      reason: 'a quantity is one',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ resources: { limits: { cpu: '1x' } } }),
      says: [
        'schema-format: spec.template.spec.containers[0].resources.limits.cpu must be a quantity such as 500m or 1Gi.',
      ],
    },
    {
      reason: 'a quantity is not a flag',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ resources: { limits: { cpu: true } } }),
      says: [
        'schema-type: spec.template.spec.containers[0].resources.limits.cpu must be a string or a number, not a boolean.',
      ],
    },
    {
      reason: 'a port may have a name',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ livenessProbe: { httpGet: { port: 'http' } } }),
      says: [],
    },
    {
      reason: 'a port is not a flag',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ livenessProbe: { httpGet: { port: true } } }),
      says: [
        'schema-type: spec.template.spec.containers[0].livenessProbe.httpGet.port must be an integer or a string, not a boolean.',
      ],
    },
    {
      reason: 'the metadata is looked at elsewhere',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      object: { metadata: { nmae: 1 } },
      says: [],
    },
    {
      reason: 'schemas inside of definitions are free',
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      object: definition({ properties: { a: { default: { x: 1 } } } }),
      says: [],
    },
    {
      reason: 'required fields are there',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: { spec: { template: { spec: { containers: [{ image: 'x', env: [{ value: 'y' }] }] } } } },
      says: [
        'schema-required: spec.template.spec.containers[0].env[0].name is required.',
        'schema-required: spec.template.spec.containers[0].name is required.',
        'schema-required: spec.selector is required.',
      ],
    },
    {
      reason: 'null is not there',
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      object: { provisioner: null },
      says: ['schema-required: provisioner is required.'],
    },
    {
      reason: 'the server does not require some fields that are published as required',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: 'X-Probe' }] } } }),
      says: [],
    },
    {
      reason: 'a status is the server’s',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: { ...deployment({}), status: { conditions: [{}] } },
      says: [],
    },
    {
      reason: 'a word is one of those allowed',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ imagePullPolicy: 'always' }),
      says: [
        'schema-enum: spec.template.spec.containers[0].imagePullPolicy must be one of "Always", "IfNotPresent", "Never". Did you mean "Always"?',
      ],
    },
    {
      reason: 'so is a word in a list',
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      object: { spec: { accessModes: ['ReadWriteAll'] } },
      says: [
        'schema-enum: spec.accessModes[0] must be one of "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod". Did you mean "ReadWriteMany"?',
      ],
    },
    {
      reason: 'no text stands for the default',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: deployment({ imagePullPolicy: '' }),
      says: [],
    },
  ])('$reason', ({ apiVersion, kind, object, says }) => {
    expect(found(apiVersion, kind, object)).toEqual(says);
  });

  test('is not checked if the document does not have its kind', () => {
    expect(found('v1', 'Deployment', {})).toBeUndefined();
  });
});
