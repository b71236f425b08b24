// What kustomize makes of a folder below manifests, as data: of kustomize only what our folders use, and anything else is
// refused. Names keep no digest. A test compares it with `kubectl kustomize`.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';

const FIELDS = ['apiVersion', 'kind', 'resources', 'components', 'namespace'];
/** Of the items of `labels`, `patches` and `configMapGenerator`. */
const INNER_FIELDS = [
  ...['pairs', 'name', 'namespace', 'files', 'patch', 'target.kind'],
  ...['options.allowKindChange', 'options.labels', 'options.disableNameSuffixHash'],
];
const WITHOUT_NAMESPACE = ['Namespace', 'CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding'];

interface Generator {
  readonly name: string;
  readonly namespace?: string;
  readonly files: readonly string[];
  readonly options?: { readonly labels?: Record<string, string>; readonly disableNameSuffixHash?: boolean };
}

interface Patch {
  readonly target?: { readonly kind: string };
  readonly patch: string;
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly namespace?: string;
  readonly labels?: readonly { readonly pairs: Record<string, string> }[];
  readonly patches?: readonly Patch[];
  readonly configMapGenerator?: readonly Generator[];
}

/** `dir`: what its paths are relative to. */
export function kustomized(dir: string, kustomization: Kustomization): readonly KubeObject[] {
  return madeOf(dir, kustomization, []);
}

function madeOf(dir: string, kustomization: Kustomization, given: readonly KubeObject[]): readonly KubeObject[] {
  const unknown = unknownIn(kustomization);
  if (unknown.length > 0) throw new Error(`${dir}: ${unknown.join(', ')} of a kustomization cannot be read here yet`);
  const { resources = [], components = [], patches = [], labels = [], configMapGenerator = [] } = kustomization;
  const found = resources.flatMap((name) => resourceAt(join(dir, name)));
  const generated = configMapGenerator.map((generator) => generatedBy(dir, generator));
  let objects: readonly KubeObject[] = [...given, ...found, ...generated];
  for (const name of components) objects = madeOf(join(dir, name), kustomizationIn(join(dir, name)), objects);
  for (const patch of patches) objects = patchedBy(patch, objects);
  const pairs = labels.map((label) => label.pairs);
  return objects.map((object) => placed(object, kustomization.namespace, Object.assign({}, ...pairs)));
}

function unknownIn({
  labels = [],
  patches = [],
  configMapGenerator = [],
  ...others
}: Kustomization): readonly string[] {
  const inner = [...labels, ...patches, ...configMapGenerator].flatMap((item) =>
    Object.entries(item).flatMap(([key, value]) => {
      const isOpen = !isObject(value) || key === 'pairs';
      return isOpen ? [key] : Object.keys(value).map((each) => `${key}.${each}`);
    }),
  );
  return [
    ...Object.keys(others).filter((field) => !FIELDS.includes(field)),
    ...inner.filter((field) => !INNER_FIELDS.includes(field)),
  ];
}

function resourceAt(path: string): readonly KubeObject[] {
  if (statSync(path).isDirectory()) return kustomized(path, kustomizationIn(path));
  return documentsOf(readFileSync(path, 'utf8')) as unknown as KubeObject[];
}

function kustomizationIn(dir: string): Kustomization {
  const name = statSync(join(dir, 'Kustomization'), { throwIfNoEntry: false }) ? 'Kustomization' : 'kustomization.yaml';
  return documentsOf(readFileSync(join(dir, name), 'utf8'))[0] as unknown as Kustomization;
}

/** As Kubernetes reads it: 0440 is octal. */
function documentsOf(text: string): readonly JsonObject[] {
  return parseAllDocuments(text, { version: '1.1' }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as JsonObject;
  });
}

function generatedBy(dir: string, { name, namespace, files, options }: Generator): KubeObject {
  const data = files.map((file) => {
    const [key = file, path = file] = file.split('=');
    return [key, readFileSync(join(dir, path), 'utf8')];
  });
  const metadata = { name, ...(namespace && { namespace }), ...(options?.labels && { labels: options.labels }) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: Object.fromEntries(data) };
}

function placed(object: KubeObject, namespace: string | undefined, labels: Record<string, string>): KubeObject {
  const isPlaced = namespace !== undefined && !WITHOUT_NAMESPACE.includes(object.kind);
  const all = { ...object.metadata.labels, ...labels };
  const metadata = {
    ...object.metadata,
    ...(isPlaced && { namespace }),
    ...(Object.keys(all).length > 0 && { labels: all }),
  };
  return { ...object, metadata };
}

function patchedBy({ target, patch }: Patch, objects: readonly KubeObject[]): readonly KubeObject[] {
  const [content] = documentsOf(patch);
  if (target !== undefined) {
    return objects.map((object) => (object.kind === target.kind ? replacedIn(object, content) : object));
  }
  const isMeant = ({ kind, metadata }: KubeObject) =>
    kind === content?.kind && isObject(content.metadata) && metadata.name === content.metadata.name;
  if (!objects.some(isMeant)) throw new Error(`a patch is of nothing that is there: ${patch}`);
  if (content?.$patch === 'delete') return objects.filter((object) => !isMeant(object));
  return objects.map((object) => (isMeant(object) ? (merged(object, content) as unknown as KubeObject) : object));
}

function replacedIn(object: KubeObject, operations: unknown): KubeObject {
  const copy: JsonObject = structuredClone(object);
  for (const { op, path, value } of operations as { op: string; path: string; value: Json }[]) {
    const keys = path.split('/').slice(1);
    const last = keys.pop() ?? '';
    const parent = keys.reduce<Json | undefined>((each, key) => (isObject(each) ? each[key] : undefined), copy);
    if (op !== 'replace' || !isObject(parent) || !(last in parent)) throw new Error(`cannot ${op} ${path} here yet`);
    parent[last] = value;
  }
  return copy as unknown as KubeObject;
}

/** Lists have merge keys, which only an empty one does not need. */
function merged(value: unknown, patch: unknown): Json | undefined {
  if (Array.isArray(patch) && patch.length > 0 && !jsonEquals(value, patch)) {
    throw new Error(`cannot merge the list ${JSON.stringify(patch)} here yet`);
  }
  if (!isObject(value) || !isObject(patch)) return patch as Json;
  const members = Object.entries(patch).map(([key, each]) => [key, merged(value[key], each)]);
  return { ...value, ...Object.fromEntries(members) };
}
