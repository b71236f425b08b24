// The recorded constructs of policies as objects that an API server takes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';

export const GROUP = 'policies.example.com';
export const POLICY_API = 'admissionregistration.k8s.io/v1';

export interface Construct {
  readonly name: string;
  /** `admitted`, `denied: <message>`, `error`, `refused` or `unknown`. */
  readonly answer: string;
  /** What an API server answers; the same unless `answer` is `unknown`. */
  readonly server: string;
  /** As the construct's number, and that of its namespace. */
  readonly id: string;
  readonly policy: KubeObject;
  readonly binding: KubeObject;
  readonly namespace: KubeObject;
  /** Parameters. */
  readonly objects: readonly KubeObject[];
  readonly probe: KubeObject;
}

const TEXT = readFileSync(join(import.meta.dirname, 'constructs.yaml'), 'utf8');

export const THINGS: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { size: { type: 'string', default: 'small' } },
    },
  },
};

export const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { kind: 'Thing', listKind: 'ThingList', plural: 'things', singular: 'thing' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: THINGS },
    })),
  },
} satisfies JsonObject;

/** `prefix` begins the names of all that is not in a namespace. */
export function constructs(prefix: string): Construct[] {
  const count = readDocuments(TEXT, 'constructs.yaml').length;
  return Array.from({ length: count }, (_, index) => constructOf(index, `${prefix}-${index}`));
}

function constructOf(index: number, id: string): Construct {
  const value = readDocuments(TEXT.replaceAll('NS', id), 'constructs.yaml')[index]?.value;
  const written = isObject(value) ? value : {};
  const { rule, matchConstraints, ...policy } = objectOf(written.policy);
  const rules = [
    { apiGroups: [GROUP, ''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'], ...objectOf(rule) },
  ];
  const match = { resourceRules: rules, ...objectOf(matchConstraints) };
  const { matchResources, ...binding } = objectOf(written.binding);
  const inside = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': id } } };
  const answer = String(written.answer);
  return {
    name: String(written.construct),
    answer,
    server: written.server === undefined ? answer : String(written.server),
    id,
    policy: named(POLICY_API, 'ValidatingAdmissionPolicy', id, { matchConstraints: match, ...policy }),
    binding: named(POLICY_API, 'ValidatingAdmissionPolicyBinding', id, {
      policyName: id,
      validationActions: ['Deny'],
      ...binding,
      matchResources: matchResources === undefined ? inside : { ...inside, ...narrowed(matchResources) },
    }),
    namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: id, labels: textsOf(written.namespace) } },
    objects: (Array.isArray(written.objects) ? written.objects : []).map((object) => placed(objectOf(object), id)),
    probe: placed(objectOf(written.probe), id),
  };
}

/** `matchResources: {}` is for what exists in no namespace of the construct. */
function narrowed(matchResources: unknown): JsonObject {
  const given = objectOf(matchResources);
  return Object.keys(given).length === 0 ? { namespaceSelector: {} } : given;
}

function placed(object: JsonObject, namespace: string): KubeObject {
  const { apiVersion = `${GROUP}/v1`, kind = 'Thing', metadata, ...rest } = object;
  const given = objectOf(metadata);
  const place = String(given.name ?? '').startsWith(namespace) ? {} : { namespace };
  const thing = kind === 'Thing' ? { spec: {} } : {};
  return {
    ...thing,
    ...rest,
    apiVersion: String(apiVersion),
    kind: String(kind),
    metadata: { name: 'probe', ...place, ...given },
  } as KubeObject;
}

function named(apiVersion: string, kind: string, name: string, spec: JsonObject): KubeObject {
  return { apiVersion, kind, metadata: { name }, spec };
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(objectOf(value)).map(([key, text]) => [key, String(text)]));
}
