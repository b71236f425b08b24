// Identifies the objects of one file and checks them with their kinds, once per content and schemas.

import assert from 'node:assert/strict';
import type { Finding } from '#kubernetes/rules/finding.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import type { Resource } from '../../kinds/kind.ts';
import { type Examined, examine, examineSound } from './examine.ts';
import { type Identified, identify } from './identify.ts';
import type { KindTable, KnownKind } from './kind-table.ts';
import { type FindPlace, openPlaces } from './kustomize/places.ts';
import type { ParsedFile } from './parsed-file.ts';
import type { ParsedObject } from './parsed-object.ts';
import { shownFindings } from './shown-findings.ts';
import type { SoundFile, SoundFiles } from './sound-files.ts';
import { type LoadCache, REPEATS, type SourceFile } from './source-file.ts';
import { restsOnUnknown } from './substitute/unknown-values.ts';

/** Result for one file. It is JSON, so that any cache can store it. */
export interface FileReading {
  readonly items: readonly ReadItem[];
  readonly problems: readonly Problem[];
  readonly unidentified: boolean;
}

export interface ReadItem {
  readonly document: number;
  readonly pointer: string;
  readonly id: ResourceId;
  readonly object: KubeObject;
  readonly defaulted?: Resource;
  readonly legible?: Resource;
  readonly unknown?: readonly string[];
  /** Set if some checks were not possible, because values are known only in the cluster. */
  readonly unchecked?: true;
  readonly valid: boolean;
}

interface FileCheck {
  readonly table: KindTable;
  readonly file: SourceFile;
  readonly parsed: ParsedFile;
  /** True if an earlier process has found no fault in the file. */
  readonly sound: boolean;
  /** Finds places. Created only for a file with problems. */
  find?: FindPlace;
}

type KnownIdentity = Extract<Identified, { ok: true }>;

/** Pointers of duplicate keys that make the identity of an object uncertain. */
const IDENTITY = /^(?:\/items(?:\/\d+)?)*\/(?:apiVersion|kind|metadata|metadata\/name|metadata\/namespace|items)$/;

export function readFile(
  table: KindTable,
  file: SourceFile,
  parsed: ParsedFile,
  options: { readonly cache?: LoadCache; readonly sound?: SoundFiles },
): FileReading {
  const { cache, sound } = options;
  const start = { table, file, parsed };
  if (cache === undefined) return readObjects({ ...start, sound: false });
  const key = objectsKey(table.digest, file);
  const cached = cache.get(key);
  if (cached !== undefined) return cached as FileReading;
  const kinds = `${table.digest} ${file.namespace ?? ''}`;
  const known = sound?.find(file);
  const isKnown = known?.heldAgainst.includes(kinds) === true;
  const reading = readObjects({ ...start, sound: isKnown });
  cache.set(key, reading);
  if (sound === undefined) return reading;
  const left = isKnown ? known : soundFileOf(file, parsed, reading, kinds);
  if (left !== undefined) sound.add(file.oid, left);
  return reading;
}

/** Returns the cache key of the reading. */
export function objectsKey(digest: string, { oid, path, namespace = '' }: SourceFile): string {
  return `objects ${digest} ${namespace} ${oid} ${path}`;
}

/**
 * Returns the file for storage; undefined if the file must not be stored. Secret content must not be written to disk.
 * Problems must be reported each time. A text with aliases may expand to a very long text.
 */
function soundFileOf(
  { path, text, openings, shortened, variables, built }: SourceFile,
  { objects }: ParsedFile,
  { problems, unidentified }: FileReading,
  kinds: string,
): SoundFile | undefined {
  if (openings !== undefined || shortened !== undefined || variables !== undefined || built !== undefined)
    return undefined;
  if (problems.length > 0 || unidentified) return undefined;
  return REPEATS.test(text) || objects.some(isSecret) ? undefined : { path, text, objects, heldAgainst: [kinds] };
}

function isSecret({ value }: ParsedObject): boolean {
  return isObject(value) && value.kind === 'Secret';
}

function readObjects(reading: FileCheck): FileReading {
  const { parsed } = reading;
  const read = parsed.objects.map((object) => readObject(reading, object));
  const doubtful = parsed.problems.some(({ problem }) => IDENTITY.test(problem.pointer ?? ''));
  const unowned = parsed.problems.filter((each) => !parsed.objects.some((object) => owns(object, each)));
  return {
    items: read.flatMap(({ item }) => (item === undefined ? [] : [item])),
    problems: [...unowned.map(({ problem }) => problem), ...read.flatMap(({ problems }) => problems)],
    unidentified: parsed.unreadable > 0 || doubtful || read.some(({ item }) => item === undefined),
  };
}

/** Identifies and checks one object. `item` is undefined if the identity is uncertain. */
function readObject(reading: FileCheck, parsed: ParsedObject): { item?: ReadItem; problems: readonly Problem[] } {
  const inText = reading.parsed.problems.filter((each) => owns(parsed, each)).map(({ problem }) => problem);
  const ofText = shownFindings(inText, (more) => ({ ...more, pointer: parsed.pointer, place: inText[0]?.place }));
  const { namespace, variables } = reading.file;
  const literal = variables?.literal === true ? parsed.unknown : undefined;
  const identified = identify(parsed.value, reading.table, { namespace, literal });
  if (!identified.ok) {
    const { fault, known } = identified;
    const findings = [fault, ...(known === undefined ? [] : besidesIdentity(parsed, known))];
    return { problems: [...ofText, ...shownOf(findings).map((finding) => problemInFile(reading, parsed, finding))] };
  }
  const { id, object, warnings } = identified;
  const { findings, defaulted, legible, unchecked } = withoutUnknown(parsed, examined(reading, parsed, identified));
  const problems = [
    ...ofText.map((problem) => ({ ...problem, resource: id })),
    ...shownOf([...warnings, ...findings]).map((finding) => problemInFile(reading, parsed, finding, id)),
  ];
  assert(isKubeObject(object), 'an identified object has apiVersion, kind and metadata');
  const valid = problems.every(({ severity }) => severity !== 'error');
  const { document, pointer } = parsed;
  const item = {
    document,
    pointer,
    id,
    object,
    valid,
    unknown: parsed.unknown,
    unchecked,
    defaulted: defaulted === undefined || !valid ? undefined : defaulted,
    legible: valid ? undefined : (legible ?? defaulted),
  };
  return { item, problems };
}

/** Returns further faults of an object whose name or namespace is missing or invalid. */
function besidesIdentity(parsed: ParsedObject, known: KnownKind): readonly Finding[] {
  const { value, refused } = parsed;
  if (refused === true || !isObject(value)) return [];
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return [];
  const { findings } = withoutUnknown(parsed, examine(known, { apiVersion, kind, name: '' }, value));
  return findings.filter(({ pointer }) => !/^\/metadata(?:\/name(?:space)?)?$/.test(pointer));
}

function examined({ sound }: FileCheck, { refused }: ParsedObject, { known, id, object }: KnownIdentity): Examined {
  if (refused === true) return NOTHING_FOUND;
  return sound ? examineSound(known, object) : examine(known, id, object);
}

/**
 * Drops findings about values that are known only in the cluster. `defaulted` is then left out, because the logic of a
 * kind must not read these values.
 */
function withoutUnknown({ unknown }: ParsedObject, all: Examined): Examined & Pick<ReadItem, 'unchecked'> {
  if (unknown === undefined) return all;
  const findings = all.findings.filter(({ pointer }) => !restsOnUnknown(pointer, unknown));
  if (findings.length === all.findings.length) return all;
  const [pointer = '', ...others] = unknown;
  const values = others.length === 0 ? `The value of ${pointer} is` : `The values of ${unknown.join(', ')} are`;
  const message = `${values} known in the cluster only, and ${others.length === 0 ? 'was' : 'were'} not checked.`;
  const warning = { code: 'variables-not-checked', severity: 'warning', pointer, message } as const;
  return { findings: [...findings, warning], legible: all.legible, unchecked: true };
}

function shownOf(findings: readonly Finding[]): readonly Finding[] {
  return shownFindings(findings, (more) => ({ ...more, pointer: '' }));
}

/** Result for an object that was already refused. Further findings are not needed, and could contain secret values. */
const NOTHING_FOUND: Examined = { findings: [] };

function owns(object: ParsedObject, { document, problem }: ParsedFile['problems'][number]): boolean {
  const { pointer } = problem;
  if (object.document !== document || pointer === undefined) return false;
  return pointer === object.pointer || pointer.startsWith(`${object.pointer}/`);
}

function problemInFile(reading: FileCheck, parsed: ParsedObject, finding: Finding, resource?: ResourceId): Problem {
  const { code, severity, message, at } = finding;
  const pointer = parsed.pointer + finding.pointer;
  reading.find ??= openPlaces(reading.file);
  const place = reading.find(parsed.document, pointer, at);
  return {
    code,
    severity,
    message,
    pointer,
    place,
    resource,
  };
}

function isKubeObject(value: unknown): value is KubeObject {
  return isObject(value) && typeof value.kind === 'string' && isObject(value.metadata);
}
