// One fixture of test/reconciler/kinds/<kind>: the first document is the resource, the others are the namespace around it.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { compileStructural } from '#kubernetes/rules/structural/structural.ts';
import { structuralSchema } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Finding, Kind, KindSettings, Reference, Resource, View } from '#reconciler/kinds/kind.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { describePattern } from '#std/schema/pattern-meanings.ts';
import { readDocuments } from '#std/yaml/yaml.ts';

export const FOLDER = import.meta.dirname;

export const SETTINGS: KindSettings = {
  apiGroup: 'toolhive.stacklok.dev',
  images: {
    proxy: 'registry.example.com/skep-proxy:1',
    vmcp: 'registry.example.com/skep-vmcp:1',
    registry: 'registry.example.com/skep:1',
  },
  pullSecrets: ['pull-secret'],
  digest: (text) => `hmac of ${text}`,
};

export interface Fixture {
  readonly name: string;
  readonly kind: Kind;
  /** As it is written. */
  readonly written: JsonObject;
  /** With defaults. */
  readonly resource: Resource;
  readonly view: View;
  /** The documents behind the first, as they are written. */
  readonly around: readonly JsonObject[];
  /** `line:column severity code: message` of everything that is wrong, in order. */
  readonly problems: readonly string[];
  readonly codes: readonly string[];
}

export const schemas = new Map(KINDS.map((kind) => [kind, compileStructural(structuralSchema(kind), describePattern)]));

export function readFixtures(kind: Kind): Fixture[] {
  const folder = join(FOLDER, kind.singular);
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return files.sort().map((file) => readFixture(kind, join(folder, file), file.slice(0, -'.yaml'.length)));
}

export function readFixture(kind: Kind, path: string, name: string): Fixture {
  const [document, ...others] = readDocuments(readFileSync(path, 'utf8'), name);
  const written = document?.value;
  assert(document !== undefined && isObject(written), `${path} begins with a resource`);
  const schema = schemas.get(kind);
  assert(schema !== undefined);
  const around = others.flatMap(({ value }) => (isObject(value) ? [value] : []));
  const view = viewAround(around);
  const defaulted = schema.withDefaults(written);
  const resource = defaulted as unknown as Resource;
  const shape = [...schema.unknownFields(written), ...schema.validate(defaulted)];
  const findings = shape.length > 0 ? shape : contentFindings(kind, resource, written, view);
  const problems = findings.map(({ code, severity, pointer, message, at }) => {
    const { line, column } = document.place(pointer, at);
    return `${line}:${column} ${severity} ${code}: ${message}`;
  });
  return { name, kind, written, resource, view, around, problems, codes: findings.map(({ code }) => code) };
}

export function viewAround(around: readonly JsonObject[]): View {
  return viewOf(around.map((object) => seen(object as unknown as KubeObject)));
}

/** As the pipeline shows it to others: one of ours has its defaults. */
function seen(object: KubeObject): KubeObject {
  const kind = KINDS.find((each) => each.kind === object.kind);
  const schema = kind === undefined ? undefined : schemas.get(kind);
  const written: unknown = object;
  const defaulted: unknown = schema?.withDefaults(written as JsonObject);
  return defaulted === undefined ? object : (defaulted as KubeObject);
}

/** What a run says beyond the schema: rules, references, and the content of what is referred to. */
export function contentFindings(kind: Kind, resource: Resource, written: JsonObject, view: View): readonly Finding[] {
  const missing = kind.references(resource).flatMap((reference) => missingFinding(reference, view));
  const inspected = missing.length > 0 ? [] : kind.inspect(resource, view);
  return [...kind.rules(resource, written.spec), ...missing, ...inspected];
}

function missingFinding({ optional, pointer, kind, name, key }: Reference, view: View): Finding[] {
  if (optional !== undefined) return [];
  const target = view.find(kind, name);
  if (target === undefined) {
    return [{ code: 'reference-missing', severity: 'error', pointer, message: `no ${kind} ${name}` }];
  }
  const members = [target.data, target.stringData].filter(isObject);
  if (key === undefined || members.some((member) => member[key] !== undefined)) return [];
  return [{ code: 'reference-key-missing', severity: 'error', pointer, message: `no key ${key} in ${kind} ${name}` }];
}

export function viewOf(objects: readonly KubeObject[]): View {
  return {
    find: (kind, name) => objects.find((object) => object.kind === kind && object.metadata.name === name),
    all: (kind) =>
      objects.filter((object) => object.kind === kind).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
  };
}
