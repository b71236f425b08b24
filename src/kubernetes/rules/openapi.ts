// Compiles an OpenAPI v3 document of an API server to merge types, which say how each field of a kind is merged. In one
// file, because the document's rules and the resulting types are read side by side.

import type { Json } from '#std/json.ts';

/**
 * The parts of `GET /openapi/v3/...` that merging needs. The bundled documents of `kubernetes/rules/schemas/` have this
 * shape.
 */
export interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>> };
}

export interface OpenApiSchema {
  readonly type?: string;
  readonly format?: string;
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly items?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly default?: Json;
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
  readonly 'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

export interface GroupVersionKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * How the server stores a value. `struct`: as a Go struct, which drops some empty values and changes the form of other
 * values (built-in kinds, metadata). `verbatim`: as written (custom resources, raw JSON). `opaque`: as a Go struct
 * whose fields are not published.
 */
type Storage = 'struct' | 'verbatim' | 'opaque';

/**
 * How one place of a kind is merged. Has at least one of scalar, list and map. Has several if values of any type are
 * allowed.
 */
export interface MergeType {
  /** Name of the published schema. Absent for inline schemas. */
  readonly name?: string;
  readonly storage: Storage;
  readonly scalar?: ScalarType;
  readonly list?: ListType;
  readonly map?: MapType;
}

export interface ScalarType {
  readonly value: 'string' | 'number' | 'boolean' | 'any';
  /** Form in which the server stores the scalar. Only below `struct` storage. */
  readonly spelling?: 'quantity' | 'base64' | 'time';
}

export interface ListType {
  /**
   * `atomic`: the list is one value. `set`: scalars, identified by their value. `map`: items, identified by their
   * `keys`.
   */
  readonly merge: 'atomic' | 'set' | 'map';
  /** Sorted; empty unless `merge` is `map`. */
  readonly keys: readonly string[];
  readonly item: () => MergeType;
}

export interface MapType {
  /** True if the map is owned, replaced and compared as one value. */
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, MergeField>;
  /** Type of undeclared keys. Absent if the server refuses them. */
  readonly other?: () => MergeType;
  /** True if undeclared keys are accepted and owned, but never stored. */
  readonly pruned: boolean;
}

interface MergeField {
  /** Element of a field set: `f:` and the key. */
  readonly element: string;
  readonly type: () => MergeType;
  /**
   * The published default. In built-in kinds, the defaults `""`, `0`, `false` and `{}` mean only that the server always
   * writes the field.
   */
  readonly default?: Json;
  readonly required: boolean;
}

/**
 * Returns the type of a kind, compiled on first use and cached per document. undefined if the document lacks the kind.
 */
export function rootType(document: OpenApiDocument, gvk: GroupVersionKind): MergeType | undefined {
  const compiler = compilerOf(document);
  const name = compiler.names().get(kindKey(gvk));
  return name === undefined ? undefined : compiler.named(name);
}

/** Returns undefined if the server refuses the key. */
export function keyType(map: MapType, key: string): MergeType | undefined {
  return map.fields.get(key)?.type() ?? map.other?.();
}

interface Compiler {
  readonly names: () => ReadonlyMap<string, string>;
  readonly named: (name: string) => MergeType | undefined;
}

const compilers = new WeakMap<OpenApiDocument, Compiler>();

function compilerOf(document: OpenApiDocument): Compiler {
  const known = compilers.get(document);
  if (known !== undefined) return known;
  const { schemas } = document.components;
  const types = new Map<string, MergeType>();
  const named = (name: string): MergeType | undefined => {
    const compiled = types.get(name);
    if (compiled !== undefined) return compiled;
    const schema = schemas[name];
    if (schema === undefined) return undefined;
    const type = namedType(name, schema, named);
    types.set(name, type);
    return type;
  };
  const compiler: Compiler = { names: lazy(() => kindNames(document)), named };
  compilers.set(document, compiler);
  return compiler;
}

/**
 * Returns schema names by kind. Schemas of options (such as DeleteOptions) list a kind for every group-version that
 * accepts them.
 */
function kindNames(document: OpenApiDocument): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    for (const kind of schema['x-kubernetes-group-version-kind'] ?? []) names.set(kindKey(kind), name);
  }
  return names;
}

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}

type TypeByName = (name: string) => MergeType | undefined;

/** Properties that a place inherits from its parent, inside one named schema. */
interface Inherited {
  readonly storage: Storage;
  /** True if a parent has `x-kubernetes-preserve-unknown-fields`. */
  readonly preserve: boolean;
}

const STRUCTS = ['io.k8s.api.', 'io.k8s.apimachinery.', 'io.k8s.apiextensions-apiserver.', 'io.k8s.kube-aggregator.'];
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const RAW_EXTENSION = 'io.k8s.apimachinery.pkg.runtime.RawExtension';
const RAW_JSON = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';

function namedType(name: string, schema: OpenApiSchema, named: TypeByName): MergeType {
  if (name === QUANTITY) return { name, storage: 'struct', scalar: { value: 'any', spelling: 'quantity' } };
  if (name === RAW_EXTENSION) return { name, ...ATOMIC };
  return { name, ...inlineType(schema, { storage: namedStorage(name, schema), preserve: false }, named) };
}

function namedStorage(name: string, schema: OpenApiSchema): Storage {
  if (!STRUCTS.some((prefix) => name.startsWith(prefix)) || name === RAW_JSON) return 'verbatim';
  return schema.type !== undefined || name === INT_OR_STRING ? 'struct' : 'opaque';
}

/**
 * Returns the type of a property, an item or an additional value. Its schema is inline or a reference (bare or in
 * `allOf`).
 */
function placeType(schema: OpenApiSchema, inherited: Inherited, named: TypeByName): MergeType {
  const target = reference(schema);
  if (target === undefined) return inlineType(schema, inherited, named);
  const type = named(target);
  if (type === undefined) return deduced(inherited.storage);
  const override = schema['x-kubernetes-map-type'];
  if (override === undefined || type.map === undefined) return type;
  return { ...type, map: { ...type.map, atomic: override === 'atomic' } };
}

/** Returns the reference of a schema. `$ref` must be a string, because the CRD type has a *property* called `$ref`. */
function reference(schema: OpenApiSchema): string | undefined {
  const [only, ...more] = schema.allOf ?? [];
  const target = schema.$ref ?? (more.length === 0 ? only?.$ref : undefined);
  return typeof target === 'string' ? target.slice(target.lastIndexOf('/') + 1) : undefined;
}

function inlineType(schema: OpenApiSchema, above: Inherited, named: TypeByName): MergeType {
  const { storage } = above;
  const inherited = { storage, preserve: above.preserve || schema['x-kubernetes-preserve-unknown-fields'] === true };
  switch (schema.type) {
    case 'object':
      return { storage, map: mapType(schema, inherited, named) };
    case 'array':
      return { storage, list: listType(schema, inherited, named) };
    case 'string':
      return { storage, scalar: stringType(schema, storage) };
    case 'integer':
    case 'number':
      return { storage, scalar: { value: 'number' } };
    case 'boolean':
      return { storage, scalar: { value: 'boolean' } };
    default:
      return {
        storage,
        scalar: { value: 'any' },
        list: listType(schema, inherited, named),
        map: mapType(schema, inherited, named),
      };
  }
}

/** Returns the type of a string. For any format except `byte`, the server accepts any scalar. */
function stringType(schema: OpenApiSchema, storage: Storage): ScalarType {
  const format = schema.format ?? '';
  const value = format === '' || format === 'byte' ? 'string' : 'any';
  if (storage !== 'struct') return { value };
  if (format === 'byte') return { value, spelling: 'base64' };
  return format === 'date-time' ? { value, spelling: 'time' } : { value };
}

function mapType(schema: OpenApiSchema, inherited: Inherited, named: TypeByName): MapType {
  const fields = new Map<string, MergeField>();
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const below = isEmbeddedMetadata(schema, key) ? { ...inherited, storage: 'struct' as const } : inherited;
    const type = lazy(() => placeType(property, below, named));
    const required = schema.required?.includes(key) ?? false;
    fields.set(key, {
      element: `f:${key}`,
      type,
      required,
      default: property.default,
    });
  }
  const other = otherType(schema, inherited, named);
  return {
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    fields,
    other,
    pruned: isPruned(schema, inherited),
  };
}

/**
 * True if the place is the metadata of a kind or of an embedded resource. The server converts it with ObjectMeta, also
 * inside a custom resource.
 */
function isEmbeddedMetadata(schema: OpenApiSchema, key: string): boolean {
  if (key !== 'metadata') return false;
  return schema['x-kubernetes-embedded-resource'] === true || schema['x-kubernetes-group-version-kind'] !== undefined;
}

function otherType(schema: OpenApiSchema, inherited: Inherited, named: TypeByName): (() => MergeType) | undefined {
  const { additionalProperties: other } = schema;
  if (other === false) return undefined;
  if (other !== undefined && other !== true) return lazy(() => placeType(other, inherited, named));
  const open = other === true || inherited.preserve || Object.keys(schema.properties ?? {}).length === 0;
  return open ? () => deduced(inherited.storage) : undefined;
}

/**
 * True if unknown fields are pruned from storage. `x-kubernetes-preserve-unknown-fields` applies to ownership at every
 * depth. Storage prunes a nested object with properties again.
 */
function isPruned(schema: OpenApiSchema, inherited: Inherited): boolean {
  const own = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties !== undefined;
  return inherited.preserve && !own && Object.keys(schema.properties ?? {}).length > 0;
}

function listType(schema: OpenApiSchema, inherited: Inherited, named: TypeByName): ListType {
  const { items } = schema;
  const item = items === undefined ? () => ATOMIC : lazy(() => placeType(items, inherited, named));
  const keys = listKeys(schema);
  if (keys === undefined) return { merge: 'atomic', keys: [], item };
  return { merge: keys.length === 0 ? 'set' : 'map', keys, item };
}

/** Returns the key fields of an associative list. Empty for a set, undefined for an atomic list. */
function listKeys(schema: OpenApiSchema): readonly string[] | undefined {
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort();
    case 'set':
      return [];
    case 'atomic':
      return undefined;
  }
  const strategy = schema['x-kubernetes-patch-strategy'];
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return undefined;
  const key = schema['x-kubernetes-patch-merge-key'];
  return key === undefined ? [] : [key];
}

/** Any value, owned as one value. */
const ATOMIC: MergeType = {
  storage: 'verbatim',
  scalar: { value: 'any' },
  list: { merge: 'atomic', keys: [], item: () => ATOMIC },
  map: { atomic: true, fields: new Map(), other: () => ATOMIC, pruned: false },
};

const DEDUCED: Readonly<Record<Storage, MergeType>> = {
  struct: makeDeduced('struct'),
  verbatim: makeDeduced('verbatim'),
  opaque: makeDeduced('opaque'),
};

/** Any value. Lists are atomic, maps are granular, and types are deduced from the values. */
function deduced(storage: Storage): MergeType {
  return DEDUCED[storage];
}

function makeDeduced(storage: Storage): MergeType {
  return {
    storage,
    scalar: { value: 'any' },
    list: { merge: 'atomic', keys: [], item: () => ATOMIC },
    map: { atomic: false, fields: new Map(), other: () => deduced(storage), pruned: false },
  };
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
