// Creates a `Kind` from functions that accept the kind's typed spec. Only this file and `specReader` cast specs between
// JSON and their types.

import type { RegistryDatabaseTarget } from '#contracts/registry/database.ts';
import type { RegistrySource } from '#contracts/registry/source.ts';
import { type KubeObject, versionOf } from '#kubernetes/rules/object.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { addressFaults } from '#std/address/address.ts';
import type { JsonObject } from '#std/json.ts';
import { NEXT_VERSION, type RuleMark } from '#std/schema/marks.ts';
import type { Static, TSchema } from '#std/schema.ts';
import { readerOf, spelledFor } from './aliases.ts';
import { conditionsOf } from './conditions.ts';
import { deprecatedFields } from './deprecated.ts';
import type {
  Annotation,
  Endpoint,
  Finding,
  GeneratedSecret,
  Image,
  Kind,
  KindSettings,
  ObjectName,
  Observed,
  PrinterColumn,
  Reference,
  Resource,
  View,
} from './kind.ts';
import { withPlacement } from './pods/placement.ts';
import { unknownReferenceFields } from './reference-fields.ts';
import { refusedFieldAdvice } from './refused-fields.ts';

/** A resource with the typed spec of its kind. */
export interface Typed<Spec extends TSchema> {
  readonly name: string;
  readonly namespace: string;
  readonly spec: Static<Spec>;
  readonly resource: Resource;
}

/** Definition of a kind. Missing functions and lists count as empty. */
export interface Definition<Spec extends TSchema, Status extends TSchema> {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  readonly printerColumns: readonly PrinterColumn[];
  readonly annotations?: readonly Annotation[];
  /**
   * Advice about unknown fields, such as fields of pods, by the fields' pointers. `*` in a pointer stands for an index.
   */
  readonly fieldAdvice?: Readonly<Record<string, string>>;
  /** Version that an API server stores. If not set, the version is `v1beta1`. */
  readonly storedVersion?: string;
  readonly after: readonly string[];
  readonly schema: { readonly spec: Spec; readonly status: Status; readonly validations?: readonly RuleMark[] };
  /** `written`: the author's spec, without defaults. */
  rules?(self: Typed<Spec>, written: unknown): readonly Finding[];
  references?(self: Typed<Spec>): readonly Reference[];
  configured?(self: Typed<Spec>, settings: Omit<KindSettings, 'digest'>): readonly ObjectName[];
  inspect?(self: Typed<Spec>, view: View): readonly Finding[];
  images?(self: Typed<Spec>): readonly Image[];
  sources?(self: Typed<Spec>): readonly RegistrySource[];
  database?(self: Typed<Spec>): RegistryDatabaseTarget | undefined;
  enforces?(self: Typed<Spec>): boolean;
  acceptsAccounts?(self: Typed<Spec>, view: View): boolean;
  exposes?(self: Typed<Spec>, view: View): readonly Endpoint[];
  makes?(self: Typed<Spec>): readonly ObjectName[];
  children?(self: Typed<Spec>, view: View, settings: KindSettings): readonly KubeObject[];
  generated?(self: Typed<Spec>, settings: KindSettings): readonly GeneratedSecret[];
  status(self: Typed<Spec>, observed: Observed): Static<Status>;
  written?(status: JsonObject): JsonObject;
}

/** A resource whose spec has current field names, and a function that maps pointers to the author's text. */
interface CurrentResource<Spec extends TSchema> {
  readonly self: Typed<Spec>;
  /** Returns the findings or references with pointers into the author's text. */
  placed<T extends { readonly pointer: string }>(found: readonly T[] | undefined): readonly T[];
}

/**
 * Returns a function that reads typed specs. Its cast is safe because callers pass only resources that fit the schema.
 */
function reading<Spec extends TSchema>(schema: JsonObject): (resource: Resource) => CurrentResource<Spec> {
  const read = readerOf(schema, '/spec');
  // The pipeline reads the same resource many times, and never changes it.
  const known = new WeakMap<Resource, CurrentResource<Spec>>();
  return (resource) => {
    const earlier = known.get(resource);
    if (earlier !== undefined) return earlier;
    const { name, namespace } = resource.metadata;
    const { value, written } = read(resource.spec);
    const spec: unknown = value;
    const found: CurrentResource<Spec> = {
      self: { name, namespace: namespace ?? 'default', spec: spec as Static<Spec>, resource },
      placed: (found = []) => found.map((one) => ({ ...one, pointer: written(one.pointer) })),
    };
    known.set(resource, found);
    return found;
  };
}

/** Checks URLs. A pod with an invalid URL would not start, or its process would exit at the first request. */
function addressFindings(schema: TSchema, spec: unknown): readonly Finding[] {
  return addressFaults(schema, spec, '/spec').map(({ pointer, message }) => {
    const where = fieldPath(pointer);
    return { code: 'address-invalid', severity: 'error', pointer, message: `${where} ${message}` };
  });
}

function plain(value: unknown): JsonObject {
  return value as JsonObject;
}

/** Writes fields with the names of the resource's API version. Adds the condition DeletionBlocked if `kept` is set. */
function completeStatus(resource: Resource, schema: TSchema, status: unknown, observed: Observed): JsonObject {
  const own = spelledFor(versionOf(resource.apiVersion), plain(schema), plain(status));
  const { kept } = observed;
  if (kept === undefined) return own;
  const blocked = { type: 'DeletionBlocked', status: 'True', reason: 'StillReferenced', message: kept } as const;
  const conditions = Array.isArray(own.conditions) ? own.conditions : [];
  return { ...own, conditions: [...conditions, ...conditionsOf(resource, [blocked], observed)] };
}

function rememberedFor<T>(find: (resource: Resource) => T): (resource: Resource) => T {
  const known = new WeakMap<Resource, T>();
  return (resource) => {
    const earlier = known.get(resource);
    if (earlier !== undefined) return earlier;
    const found = find(resource);
    known.set(resource, found);
    return found;
  };
}

function adviceOn(sentences: Readonly<Record<string, string>>, pointer: string): string | undefined {
  const path = pointer.replaceAll(/\/\d+(?=\/)/g, '/*');
  return Object.hasOwn(sentences, path) ? sentences[path] : undefined;
}

/**
 * Returns the kind of a definition. The kind's functions accept resources, and pass typed specs to the definition's
 * functions.
 */
export function defineKind<Spec extends TSchema, Status extends TSchema>(definition: Definition<Spec, Status>): Kind {
  const { kind, plural, singular, shortNames, categories, description, printerColumns, after } = definition;
  const { annotations = [], fieldAdvice = {}, storedVersion = NEXT_VERSION } = definition;
  const { spec, status, validations } = definition.schema;
  const schema = { spec: plain(spec), status: plain(status), validations: validations ?? [] };
  const read = reading<Spec>(schema.spec);
  return {
    ...{ kind, plural, singular, shortNames, categories, description, printerColumns, after },
    ...{ schema, annotations, storedVersion },
    adviceOnField: (pointer) => adviceOn(fieldAdvice, pointer) ?? refusedFieldAdvice(pointer),
    unread: (written) => unknownReferenceFields(schema.spec, written, '/spec'),
    rules: (resource, written) => {
      const { self, placed } = read(resource);
      return [
        ...deprecatedFields(schema.spec, { version: versionOf(resource.apiVersion), value: written, pointer: '/spec' }),
        ...placed(addressFindings(spec, self.spec)),
        ...placed(definition.rules?.(self, written)),
      ];
    },
    references: rememberedFor((resource) => {
      const { self, placed } = read(resource);
      return placed(definition.references?.(self));
    }),
    configured: (resource, settings) => definition.configured?.(read(resource).self, settings) ?? [],
    inspect: (resource, view) => {
      const { self, placed } = read(resource);
      return placed(definition.inspect?.(self, view));
    },
    images: (resource) => {
      const { self, placed } = read(resource);
      return placed(definition.images?.(self));
    },
    sources: (resource) => definition.sources?.(read(resource).self) ?? [],
    database: (resource) => definition.database?.(read(resource).self),
    enforces: (resource) => definition.enforces?.(read(resource).self) ?? false,
    acceptsAccounts: (resource, view) => definition.acceptsAccounts?.(read(resource).self, view) ?? false,
    exposes: (resource, view) => definition.exposes?.(read(resource).self, view) ?? [],
    makes: (resource) => definition.makes?.(read(resource).self) ?? [],
    children: (resource, view, settings) => {
      const children = definition.children?.(read(resource).self, view, settings) ?? [];
      return children.map((child) => withPlacement(child, settings));
    },
    generated: (resource, settings) => definition.generated?.(read(resource).self, settings) ?? [],
    status: (resource, observed) =>
      completeStatus(resource, status, definition.status(read(resource).self, observed), observed),
    written: (status) => definition.written?.(status) ?? status,
  };
}
