// Makes src/kubernetes/rules/schemas/*.json from the OpenAPI v3 documents of an API server:
// `node scripts/record-schemas.ts DIR [OUTPUT]`. DIR holds what `kubectl get --raw /openapi/v3/apis/apps/v1` and its like
// print, one document a file, any names ending in `.json`. OUTPUT is where the files go, src/kubernetes/rules/schemas unless given.
// Only facts are kept (keys, types, merge rules, defaults), nothing that was written to be read.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLED_KINDS, type BundledKind } from '#kubernetes/rules/schemas/kinds.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '#std/json.ts';

const KEPT = ['type', 'format', 'required', 'default', 'enum', '$ref'];
const SCHEMAS = fileURLToPath(new URL('../src/kubernetes/rules/schemas', import.meta.url));

function main(): void {
  const [directory, output = SCHEMAS] = process.argv.slice(2);
  if (directory === undefined) fail('usage: node scripts/record-schemas.ts DIR [OUTPUT]');
  const documents = readDocuments(directory);
  for (const [apiVersion, kinds] of Map.groupBy(BUNDLED_KINDS, (kind) => kind.apiVersion)) {
    const schemas = documents.get(apiVersion);
    if (schemas === undefined) fail(`${directory} has no document for ${apiVersion}`);
    const file = join(output, `${apiVersion.includes('/') ? apiVersion.replace('/', '_') : `core_${apiVersion}`}.json`);
    writeFileSync(file, text(closure(schemas, kinds)));
  }
}

/** Schemas by apiVersion. A document serves one group-version, told by its paths: `/api/v1/...`, `/apis/apps/v1/...`. */
function readDocuments(directory: string): Map<string, JsonObject> {
  const documents = new Map<string, JsonObject>();
  for (const name of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    const document: unknown = JSON.parse(readFileSync(join(directory, name), 'utf8'));
    const apiVersion =
      isObject(document) && isObject(document.paths) ? servedVersion(Object.keys(document.paths)) : undefined;
    if (apiVersion === undefined || !isObject(document) || !isObject(document.components)) continue;
    if (isObject(document.components.schemas)) documents.set(apiVersion, document.components.schemas);
  }
  return documents;
}

function servedVersion(paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const [root, group, version] = path.split('/').slice(1);
    if (root === 'api' && group !== undefined && group !== '') return group;
    if (root === 'apis' && version !== undefined && version !== '') return `${group}/${version}`;
  }
  return undefined;
}

/** The schemas of the kinds and all that they refer to, trimmed. */
function closure(schemas: JsonObject, kinds: readonly BundledKind[]): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    const schema = schemas[name];
    if (!isObject(schema)) fail(`no schema ${name}`);
    const trimmed = trim(schema);
    found.set(name, trimmed);
    for (const target of references(trimmed)) visit(target);
  };
  for (const kind of kinds) visit(nameOf(schemas, kind));
  return found;
}

function nameOf(schemas: JsonObject, { apiVersion, kind }: BundledKind): string {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const names = Object.keys(schemas).filter((name) => {
    const schema = schemas[name];
    const kinds = isObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
    return canonicalJson(kinds ?? null) === canonicalJson([{ group, version, kind }]);
  });
  const [name] = names;
  if (name === undefined || names.length > 1) fail(`${names.length} schemas for ${apiVersion} ${kind}`);
  return name;
}

function trim(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (KEPT.includes(key) || key.startsWith('x-kubernetes-')) out[key] = value;
    else if (key === 'properties' && isObject(value)) out[key] = mapValues(value, trimAny);
    else if (key === 'items' || key === 'additionalProperties') out[key] = trimAny(value);
    else if ((key === 'allOf' || key === 'oneOf') && Array.isArray(value)) out[key] = value.map(trimAny);
  }
  return out;
}

function trimAny(value: Json): Json {
  return isObject(value) ? trim(value) : value;
}

function mapValues(object: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, value === undefined ? value : change(value)]),
  );
}

function references(schema: JsonObject): string[] {
  const found: string[] = [];
  const walk = (value: Json | undefined): void => {
    if (Array.isArray(value)) value.forEach(walk);
    if (!isObject(value)) return;
    if (typeof value.$ref === 'string') found.push(value.$ref.slice(value.$ref.lastIndexOf('/') + 1));
    Object.values(value).forEach(walk);
  };
  walk(schema);
  return found;
}

/** One line a schema, sorted: a new Kubernetes version reads well as a diff. */
function text(schemas: ReadonlyMap<string, JsonObject>): string {
  const lines = [...schemas]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${JSON.stringify(name)}:${canonicalJson(schema)}`);
  return `{"components":{"schemas":{\n${lines.join(',\n')}\n}}}\n`;
}

function fail(message: string): never {
  process.stderr.write(`record-schemas: ${message}\n`);
  process.exit(1);
}

main();
