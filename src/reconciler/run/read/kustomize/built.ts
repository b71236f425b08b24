// Finds the place of a value that kustomize built: in the patch that set the field, in the file of the object, or in
// the kustomization that generates the object.

import { isObject, type Json, type JsonObject, jsonEquals, valueAtPointer } from '#std/json.ts';
import type { SourcePlace } from '#std/problem.ts';
import { type ReadDocument, readDocuments } from '#std/yaml/yaml.ts';
import { unroll } from '../unroll.ts';

export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** A patch in a file or inside a kustomization. */
export interface PatchText {
  readonly file: TextFile;
  /** Pointer to the patch, if the patch is inside a kustomization. */
  readonly pointer?: string;
  readonly target: JsonObject;
}

/** Files that set the fields of one built object. */
export interface BuiltFrom {
  /** The kustomization that was built. */
  readonly kustomization: TextFile;
  /** The file of the object, or the kustomization that generates the object. */
  readonly origin: TextFile;
  readonly generated: boolean;
  readonly patches: readonly PatchText[];
}

interface PatchPart {
  readonly read: ReadDocument;
  readonly pointer: string;
  readonly value: JsonObject;
}

export function placeBuilt(built: BuiltFrom, object: Json, pointer: string, at?: 'key' | 'value'): SourcePlace {
  const { kustomization, origin, generated, patches } = built;
  const start = { file: origin.path, line: 1, column: 1 };
  if (!isObject(object)) return start;
  const ofNamespace = isNamespace(object, pointer) ? placeField(kustomization, 'namespace') : undefined;
  if (ofNamespace !== undefined) return ofNamespace;
  if (generated) return placeGenerator(origin, object) ?? start;
  const written = findWritten(origin, object);
  if (written === undefined) return start;
  for (const patch of patches.toReversed()) {
    const place = placeInPatch(patch, written.value, object, pointer);
    if (place !== undefined) return place;
  }
  return written.read.place(written.pointer + pointer, at);
}

/** Returns true for fields that the field `namespace` of a kustomization sets. That field also renames Namespaces. */
function isNamespace({ kind }: JsonObject, pointer: string): boolean {
  return pointer === '/metadata/namespace' || (kind === 'Namespace' && pointer === '/metadata/name');
}

function placeField({ path, text }: TextFile, name: string): SourcePlace | undefined {
  const [read] = readDocuments(text, path);
  return isObject(read?.value) && read.value[name] !== undefined ? read.place(`/${name}`) : undefined;
}

function placeGenerator({ path, text }: TextFile, object: JsonObject): SourcePlace | undefined {
  const [read] = readDocuments(text, path);
  if (read === undefined || !isObject(read.value)) return undefined;
  const field = object.kind === 'Secret' ? 'secretGenerator' : 'configMapGenerator';
  const generators = read.value[field];
  if (!Array.isArray(generators)) return undefined;
  const names = generators.map((each) => (isObject(each) && typeof each.name === 'string' ? each.name : ''));
  const index = names.indexOf(longestWithin(objectName(object), names) ?? '');
  return index < 0 ? undefined : read.place(`/${field}/${index}`);
}

/**
 * Finds the object in its file. A build adds prefixes and suffixes to the name, but changes neither kind nor version.
 */
function findWritten({ path, text }: TextFile, object: JsonObject): PatchPart | undefined {
  const all = readDocuments(text, path).flatMap((read) =>
    unroll(read.value ?? null).flatMap(({ pointer, value }): PatchPart[] =>
      isObject(value) && value.kind === object.kind && value.apiVersion === object.apiVersion
        ? [{ read, pointer, value }]
        : [],
    ),
  );
  const name = longestWithin(
    objectName(object),
    all.map(({ value }) => objectName(value)),
  );
  return all.find(({ value }) => objectName(value) === name) ?? all[0];
}

function objectName({ metadata }: JsonObject): string {
  return isObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
}

function longestWithin(name: string, parts: readonly string[]): string | undefined {
  const within = parts.filter((part) => part !== '' && name.includes(part));
  return within.toSorted((a, b) => b.length - a.length)[0];
}

/** Returns the place in the patch; undefined if the patch did not set the field, or may not have set it. */
function placeInPatch(
  patch: PatchText,
  written: JsonObject,
  object: JsonObject,
  pointer: string,
): SourcePlace | undefined {
  const { path, text } = patch.file;
  const [outer] = patch.pointer === undefined ? [] : readDocuments(text, path);
  const inline = outer === undefined ? undefined : valueAtPointer(outer.value ?? null, patch.pointer ?? '');
  const documents = readDocuments(typeof inline === 'string' ? inline : text, path);
  for (const { value = null, place } of documents) {
    const found = Array.isArray(value)
      ? operationAt(value, patch.target, written, pointer)
      : fieldAt(value, patch.target, { written, object }, pointer);
    if (found !== undefined) return outer === undefined ? place(found) : outer.place(patch.pointer ?? '');
  }
  return undefined;
}

/** Returns the pointer to the operation of a JSON patch (RFC 6902) that set the field. */
function operationAt(
  operations: readonly Json[],
  target: JsonObject,
  written: JsonObject,
  pointer: string,
): string | undefined {
  if (!isTargeted(target, written)) return undefined;
  const index = operations.findLastIndex(
    (each) =>
      isObject(each) && typeof each.path === 'string' && (pointer === each.path || pointer.startsWith(`${each.path}/`)),
  );
  const operation = operations[index];
  if (!isObject(operation) || typeof operation.path !== 'string' || operation.value === undefined) return undefined;
  return `/${index}/value${pointer.slice(operation.path.length)}`;
}

function fieldAt(
  patch: Json,
  target: JsonObject,
  { written, object }: { readonly written: JsonObject; readonly object: JsonObject },
  pointer: string,
): string | undefined {
  const names =
    Object.keys(target).length > 0 ? target : isObject(patch) ? { kind: patch.kind, name: objectName(patch) } : {};
  const set = valueAtPointer(patch, pointer);
  if (set === undefined || pointer === '' || !isTargeted(names, written)) return undefined;
  return jsonEquals(set, valueAtPointer(object, pointer) ?? null) ? pointer : undefined;
}

/**
 * Returns true if the patch may apply to the object. A target name is a pattern: only a name without special characters
 * is compared.
 */
function isTargeted({ kind, name }: JsonObject, written: JsonObject): boolean {
  const isNamed = typeof name !== 'string' || !/^[\w.-]+$/.test(name) || name === objectName(written);
  return isNamed && (kind === undefined || kind === written.kind);
}
