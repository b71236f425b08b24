// Loads the documents of one source as resources, and reports each problem at its place.

import { isToolLock } from '#contracts/tool-lock/schema.ts';
import { type ReadContents, shortenText, standInsOf } from '#kubernetes/rules/large-values.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatId, type Problem, type ResourceId, type SourcePlace, sortByPlace } from '#std/problem.ts';
import type { Kind, Resource } from '../../kinds/kind.ts';
import { finishAtOnce, type Steps } from '../turns.ts';
import { type FileReading, type ReadItem, readFile } from './file-reading.ts';
import { type KindTable, kindTable, type ServedKind } from './kind-table.ts';
import { openPlaces } from './kustomize/places.ts';
import { type ParsedFile, parseFile } from './parsed-file.ts';
import type { SoundFiles } from './sound-files.ts';
import { isManifest, type LoadCache, type SourceFile } from './source-file.ts';

export interface LoadInput {
  readonly source: string;
  readonly documents: readonly SourceFile[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  /** Returns the OpenAPI document of a built-in group-version; undefined for any other apiVersion. */
  readonly builtin: (apiVersion: string) => OpenApiDocument | undefined;
  /** CustomResourceDefinitions in addition to the definitions in the documents. */
  readonly definitions?: readonly JsonObject[];
  /** Returns false for a definition in the documents that must be ignored. If absent, all definitions are used. */
  readonly counts?: (definition: JsonObject) => boolean;
  /** Kinds that the server serves and that have no schema in this program. */
  readonly served?: readonly ServedKind[] | undefined;
  /**
   * Handling of foreign kinds and of objects with unknown values. `refused` (the default): the objects are invalid.
   * `unchecked`: the objects are accepted, with one warning per kind.
   */
  readonly foreign?: 'refused' | 'unchecked';
  /** Reads the text of a blob. Needed to read the long values of shortened files. */
  readonly readText?: (blob: string) => Promise<string>;
  /** Caches results of unchanged files between runs. */
  readonly cache?: LoadCache;
  /** Results of earlier processes. If absent, results are neither read nor stored. Requires `cache`. */
  readonly sound?: SoundFiles;
}

export interface LoadedResource {
  readonly id: ResourceId;
  /** Object as it will be applied: the written object with a namespace. */
  readonly object: KubeObject;
  /** Set if the kind is ours. */
  readonly kind?: Kind;
  /** Set for valid objects of our kinds: the object with the defaults of the schema. */
  readonly defaulted?: Resource;
  /** Set for invalid objects of our kinds: the object without its invalid fields. */
  readonly legible?: Resource;
  /** Set if the long values of the object are not in memory. */
  readonly contents?: ReadContents;
  /** Set if the object was encrypted with SOPS. */
  readonly sealed?: true;
  /** Pointers to values of variables that are unknown without a cluster. */
  readonly unknown?: readonly string[];
  /**
   * Returns the place of the value or key at a JSON pointer. If the file has no such value, returns the place of the
   * nearest enclosing key.
   */
  place(pointer: string, at?: 'key' | 'value'): SourcePlace;
}

export interface Loaded {
  /** All identified objects to apply, valid or not, in the order of the documents. */
  readonly resources: readonly LoadedResource[];
  /** All identified tool locks. They are never applied. */
  readonly locks: readonly LoadedResource[];
  /** Problems, sorted by file, line and column. */
  readonly problems: readonly Problem[];
  /** True if a document could not be identified. In this case no object of the source may be deleted. */
  readonly unidentified: boolean;
  /** Identified objects that must not be applied, so that the live objects are kept unchanged. */
  readonly invalid: readonly ResourceId[];
  /** Foreign kinds, each once. Their CRDs may be in the cluster. */
  readonly foreign: readonly GroupVersionKind[];
  /** Kinds without a schema in this program, each once: foreign kinds, and kinds or versions of Kubernetes itself. */
  readonly unknown: readonly GroupVersionKind[];
}

interface GroupVersionKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export function load(input: LoadInput): Loaded {
  return finishAtOnce(loading(input));
}

/** Loads like `load`, but in steps: yields after each file. */
export function* loading(input: LoadInput): Steps<Loaded> {
  const files: { readonly file: SourceFile; readonly parsed: ParsedFile }[] = [];
  for (const file of input.documents.filter(({ path, built }) => built !== undefined || isManifest(path))) {
    files.push({ file, parsed: parseFile(file, input.cache, soundOf(input, file)) });
    yield;
  }
  const { counts = () => true } = input;
  // Definitions in the documents take precedence over other definitions.
  const own = files.flatMap(({ parsed }) => definitionsOf(parsed).filter(counts));
  const definitions = [...(input.definitions ?? []), ...own];
  const table = kindTable({ ...input, definitions, foreign: input.foreign ?? 'refused' });
  const readings: { readonly file: SourceFile; readonly reading: FileReading }[] = [];
  for (const { file, parsed } of files) {
    readings.push({ file, reading: readFile(table, file, parsed, input) });
    yield;
  }
  const isUnfit = ({ valid, unchecked }: ReadItem) => !valid || (unchecked === true && input.foreign !== 'unchecked');
  const parsed = files.map((each) => each.parsed);
  const found = readings.flatMap(({ file, reading }) => resourcesOf(file, reading, table, input.readText));
  const { unique, duplicates } = separate(found);
  return {
    resources: unique.filter(({ id }) => !isToolLock(id)),
    locks: unique.filter(({ id }) => isToolLock(id)),
    problems: sortByPlace([
      ...readings.flatMap(({ reading }) => reading.problems),
      ...duplicates.values(),
      ...uncheckedKinds(unique, table),
    ]),
    unidentified: readings.some(({ reading }) => reading.unidentified),
    invalid: distinctIds([
      ...readings.flatMap(({ reading }) => reading.items.filter(isUnfit).map(({ id }) => id)),
      ...[...duplicates.keys()].map(({ id }) => id),
    ]),
    foreign: kindsIn(parsed, ({ apiVersion, kind }) => table.isForeign(apiVersion, kind)),
    unknown: kindsIn(parsed, ({ apiVersion, kind }) => table.find(apiVersion, kind) === undefined),
  };
}

/** Returns the result of an earlier process. Built files and files with variables are never stored. */
function soundOf({ sound }: LoadInput, file: SourceFile) {
  return file.variables === undefined && file.built === undefined ? sound?.find(file) : undefined;
}

function kindsIn(
  files: readonly ParsedFile[],
  counts: (kind: GroupVersionKind) => boolean,
): readonly GroupVersionKind[] {
  const found = new Map<string, GroupVersionKind>();
  for (const { value } of files.flatMap(({ objects }) => objects)) {
    if (!isObject(value)) continue;
    const { apiVersion, kind } = value;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !counts({ apiVersion, kind })) continue;
    found.set(`${apiVersion} ${kind}`, { apiVersion, kind });
  }
  // Sorted, so that requests to the cluster do not depend on the order of the files.
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
}

/** Returns one warning for each unchecked kind, at its first object. */
function uncheckedKinds(resources: readonly LoadedResource[], table: KindTable): Problem[] {
  const unchecked = resources.filter(({ id }) => table.find(id.apiVersion, id.kind)?.type === 'unchecked');
  const byKind = Map.groupBy(unchecked, ({ id }) => `${id.apiVersion} ${id.kind}`);
  return [...byKind.values()].flatMap(([first, ...others]): Problem[] => {
    if (first === undefined) return [];
    const { apiVersion, kind } = first.id;
    const who = others.length === 0 ? 'it is' : `its ${others.length + 1} objects are`;
    const message = `${kind} of ${apiVersion} has no schema here, so ${who} not checked: add its CustomResourceDefinition to these manifests, or name its folder with --schemas.`;
    const place = first.place('/kind');
    return [{ code: 'kind-not-checked', severity: 'warning', message, place, pointer: '/kind', resource: first.id }];
  });
}

export function definitionsOf(parsed: ParsedFile): JsonObject[] {
  return parsed.objects.flatMap(({ value }) => {
    if (!isObject(value) || value.kind !== 'CustomResourceDefinition') return [];
    return value.apiVersion === 'apiextensions.k8s.io/v1' ? [value] : [];
  });
}

function resourcesOf(
  file: SourceFile,
  reading: FileReading,
  table: KindTable,
  readText: LoadInput['readText'],
): LoadedResource[] {
  const find = openPlaces(file);
  return reading.items.map((item) => ({
    id: item.id,
    object: item.object,
    ...kindOf(item, table),
    ...contentsOf(file, item, readText),
    defaulted: item.defaulted,
    legible: item.legible,
    sealed: file.openings?.[item.document] === undefined ? undefined : true,
    unknown: item.unknown,
    place: (pointer, at) => find(item.document, item.pointer + pointer, at),
  }));
}

function contentsOf(
  { shortened }: SourceFile,
  { object }: ReadItem,
  readText: LoadInput['readText'],
): { contents?: ReadContents } {
  if (shortened === undefined || readText === undefined || standInsOf(object).length === 0) return {};
  return { contents: async () => shortenText(await readText(shortened.blob)).values };
}

function kindOf({ id }: ReadItem, table: KindTable): { kind?: Kind } {
  const known = table.find(id.apiVersion, id.kind);
  return known?.type === 'ours' ? { kind: known.kind } : {};
}

interface Separated {
  readonly unique: readonly LoadedResource[];
  /**
   * Second and further declarations of an object, each with a problem that names the place of the first declaration.
   */
  readonly duplicates: ReadonlyMap<LoadedResource, Problem>;
}

function separate(found: readonly LoadedResource[]): Separated {
  const first = new Map<string, LoadedResource>();
  const duplicates = new Map<LoadedResource, Problem>();
  for (const resource of found) {
    const key = keyOf(resource.id);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, resource);
    else duplicates.set(resource, duplicateProblem(resource, earlier));
  }
  return { unique: [...first.values()], duplicates };
}

function duplicateProblem(resource: LoadedResource, earlier: LoadedResource): Problem {
  const { file, line, column } = earlier.place('/metadata/name');
  return {
    code: 'duplicate-resource',
    severity: 'error',
    message: `${formatId(resource.id)} is declared already, at ${file}:${line}:${column}.`,
    place: resource.place('/metadata/name'),
    pointer: '/metadata/name',
    resource: resource.id,
  };
}

function distinctIds(ids: readonly ResourceId[]): ResourceId[] {
  return [...new Map(ids.map((id) => [keyOf(id), id])).values()];
}
