// The values of the chart: what each is for, what it may be, and its default, which is what manifests have at its places.
// Writes values.yaml and values.schema.json.

import { Document, isMap, isScalar, type YAMLMap } from 'yaml';
import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import type { ChartDocument } from './documents.ts';
import { placesIn, valueAt } from './places.ts';

interface Value {
  readonly path: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Without one it is what manifests have. */
  readonly initial?: Json;
}

const NAME: JsonObject = { type: 'string', minLength: 1, maxLength: 253 };
const NAMESPACE: JsonObject = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 };
const SWITCH: JsonObject = { type: 'boolean' };
const QUANTITIES: JsonObject = { type: 'object', additionalProperties: { type: ['string', 'number'] } };
const RESOURCES: JsonObject = {
  type: 'object',
  properties: { requests: QUANTITIES, limits: QUANTITIES },
  additionalProperties: false,
};
const STRINGS: JsonObject = { type: 'object', additionalProperties: { type: 'string' } };

const VALUES: readonly Value[] = [
  {
    path: 'crds.enabled',
    description:
      'The definitions of the kinds. They stay when the release is uninstalled. Off: somebody else applies them, before.',
    schema: SWITCH,
    initial: true,
  },
  { path: 'image.repository', description: 'The image of all pods, without its tag.', schema: NAME },
  { path: 'image.tag', description: 'Empty: the version of the chart.', schema: { type: 'string' }, initial: '' },
  {
    path: 'image.pullPolicy',
    description: 'Empty: what Kubernetes does by default.',
    schema: { enum: ['', 'Always', 'IfNotPresent', 'Never'] },
    initial: '',
  },
  {
    path: 'config',
    description: 'skep.yaml, whole: --set-file config=skep.yaml. Keep `name: default`, stateDir and http.',
    schema: { type: 'string', minLength: 1 },
  },
  {
    path: 'scope',
    description:
      'What the reconciler may do where: in the whole cluster, or only in `namespaces`, without a ClusterRole.',
    schema: { enum: ['cluster', 'namespaced'] },
    initial: 'cluster',
  },
  {
    path: 'namespaces',
    description:
      'With scope namespaced: where it gets its rights. They have to exist; `namespaces` of skep.yaml names the same.',
    schema: { type: 'array', items: NAMESPACE, uniqueItems: true },
    initial: [],
  },
  {
    path: 'cronJob.enabled',
    description: '`skep sync` as a CronJob instead of `skep run` as a Deployment: no webhooks and no metrics.',
    schema: SWITCH,
    initial: false,
  },
  { path: 'cronJob.schedule', description: 'When it runs.', schema: NAME },
  { path: 'resources', description: 'Of the reconciler.', schema: RESOURCES },
  {
    path: 'serviceAccount.annotations',
    description: 'Of the account of the reconciler.',
    schema: STRINGS,
    initial: {},
  },
  { path: 'secrets.git', description: 'In /secrets/git. None of these has to be there.', schema: NAME },
  { path: 'secrets.http', description: 'In /secrets/http.', schema: NAME },
  { path: 'secrets.age', description: 'In /secrets/age.', schema: NAME },
  { path: 'secrets.database', description: 'In /secrets/database.', schema: NAME },
  {
    path: 'registry.enabled',
    description: 'A registry service on its own, for a PostgreSQL that is there.',
    schema: SWITCH,
    initial: false,
  },
  {
    path: 'registry.config',
    description: 'registry.yaml, whole: --set-file registry.config=registry.yaml.',
    schema: { type: 'string', minLength: 1 },
  },
  { path: 'registry.resources', description: 'Of each of its pods.', schema: RESOURCES },
  {
    path: 'registry.secrets.database',
    description: 'The password file of the service. Has to be there.',
    schema: NAME,
  },
  {
    path: 'registry.secrets.migrator',
    description: 'The password file of the user that owns the tables. Has to be there.',
    schema: NAME,
  },
  { path: 'registry.secrets.git', description: 'In /secrets/git.', schema: NAME },
  {
    path: 'observability.enabled',
    description: 'PodMonitors and alerts for the Prometheus Operator, and a dashboard for the sidecar of Grafana.',
    schema: SWITCH,
    initial: false,
  },
];

/** Of manifests, all places of a value have the same. */
function initialOf({ path, initial }: Value, documents: readonly ChartDocument[], appVersion: string): Json {
  if (initial !== undefined) return initial;
  const found = documents.flatMap(({ object }) =>
    placesIn(object).flatMap(({ expression, pointer }) => {
      const here = valueAt(object, pointer);
      if (here === undefined) return [];
      if (expression.form === 'image' && path === 'image.repository') return [untagged(String(here), appVersion)];
      return expression.form === 'value' && expression.path === path ? [here] : [];
    }),
  );
  const [first] = found;
  if (first === undefined) throw new Error(`no place has the value ${path}`);
  if (!found.every((each) => jsonEquals(each, first)))
    throw new Error(`places of the value ${path} differ in manifests`);
  return first;
}

function untagged(image: string, version: string): string {
  if (!image.endsWith(`:${version}`)) throw new Error(`${image} is not of version ${version}`);
  return image.slice(0, -version.length - 1);
}

export function initialValues(documents: readonly ChartDocument[], appVersion: string): JsonObject {
  const values: JsonObject = {};
  for (const value of VALUES) {
    const { parent, last } = parentOf(values, value.path);
    parent[last] = initialOf(value, documents, appVersion);
  }
  return values;
}

function parentOf(root: JsonObject, path: string): { readonly parent: JsonObject; readonly last: string } {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let parent = root;
  for (const key of keys) {
    const next = parent[key];
    const child: JsonObject = isObject(next) ? next : {};
    parent[key] = child;
    parent = child;
  }
  return { parent, last };
}

export function valuesFile(initial: JsonObject): string {
  const document = new Document(initial, { version: '1.1' });
  document.commentBefore = ' Generated by `npm run generate` out of manifests. Do not edit: name yours with --values.';
  for (const { path, description } of VALUES) describe(document.contents as YAMLMap, path.split('.'), description);
  return document.toString({ lineWidth: 0 });
}

function describe(map: YAMLMap, [key, ...others]: readonly string[], description: string): void {
  const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key);
  if (pair === undefined || !isScalar(pair.key)) throw new Error(`no value ${key}`);
  if (others.length === 0) pair.key.commentBefore = ` ${description}`;
  else if (isMap(pair.value)) describe(pair.value, others, description);
}

export function valuesSchema(): string {
  const root = closed({ global: { type: 'object', description: 'Of a chart that this one is part of; not read.' } });
  for (const { path, description, schema } of VALUES) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const properties = keys.reduce((parent, key) => {
      const next = isObject(parent[key]) ? parent[key] : closed({});
      parent[key] = next;
      return next.properties as JsonObject;
    }, root.properties as JsonObject);
    properties[last] = { description, ...schema };
  }
  const rule: JsonObject = {
    if: { properties: { scope: { const: 'cluster' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { namespaces: { maxItems: 0 } } },
  };
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...root, ...rule }, null, 2)}\n`;
}

function closed(properties: JsonObject): JsonObject {
  return { type: 'object', properties, additionalProperties: false };
}
