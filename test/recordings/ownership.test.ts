// Ownership as the recorded server kept it: every recorded write is done again by src/kubernetes/rules/ownership alone, without a
// server, and its managedFields, conflicts and verdicts are compared with what the server answered.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { typesOfDefinition } from '#kubernetes/devcluster/custom/definition.ts';
import { customDocument } from '#kubernetes/devcluster/custom/document.ts';
import type { KubeObject, ManagedFieldsEntry } from '#kubernetes/rules/object.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { type MergeType, type OpenApiDocument, rootType } from '#kubernetes/rules/openapi.ts';
import { compare, type Result } from '#kubernetes/rules/ownership/compare.ts';
import { serverSideApply, trackUpdate } from '#kubernetes/rules/ownership/write/apply.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { canonicalJson, isObject } from '#std/json.ts';
import { readFixture } from './fixture.ts';
import { at } from './scenario.ts';
import { SCENARIOS } from './scenarios/index.ts';
import { type Write, writesOf } from './writes.ts';

const RECORDINGS = SCENARIOS.map((scenario) => readFixture(scenario.name));
const WRITES = RECORDINGS.flatMap(writesOf).map(withTimes);
const CUSTOM = new Map(RECORDINGS.flatMap((recording) => writesOf(recording).flatMap(documentsOf)));

/** The documents of the kinds that a recorded definition serves, by `apiVersion/Kind`. */
function documentsOf({ sent: body, status }: Write): (readonly [string, OpenApiDocument])[] {
  const sent =
    typeof body === 'string'
      ? (parse(readFileSync(body, 'utf8').replaceAll('toolhive.stacklok.dev', 'own.recordings.example.com')) as Json)
      : body;
  if (!isObject(sent) || sent.kind !== 'CustomResourceDefinition' || status !== 201) return [];
  const established = { ...sent, status: { conditions: [{ type: 'Established', status: 'True' }] } };
  return typesOfDefinition(established as unknown as KubeObject).map((type) => {
    return [`${type.group}/${type.version}/${type.kind}`, customDocument([type])] as const;
  });
}

function typeOf(object: Json): MergeType | undefined {
  const apiVersion = String(at(object, '/apiVersion'));
  const kind = String(at(object, '/kind'));
  const document = CUSTOM.get(`${apiVersion}/${kind}`) ?? bundledSchema(apiVersion);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return document === undefined ? undefined : rootType(document, { group: groupOf(apiVersion), version, kind });
}

/** Recorded times are symbols; the server sorts entries by time, so that their order tells which is older. */
function withTimes(write: Write): Write {
  const { before } = write;
  if (before?.metadata.managedFields === undefined) return write;
  const managedFields = before.metadata.managedFields.map((entry, index) => {
    return { ...entry, time: `2025-01-01T00:00:${String(index).padStart(2, '0')}Z` };
  });
  return { ...write, before: { ...before, metadata: { ...before.metadata, managedFields } } };
}

/** Entries without their times, in one order: the server's order depends on its clock. */
function entries(object: Json | KubeObject): string[] {
  const found = (at(object as Json, '/metadata/managedFields') ?? []) as unknown as ManagedFieldsEntry[];
  return found.map(({ time: _, ...entry }) => canonicalJson(entry)).sort();
}

function contextOf({ query, subresource, sent }: Write, type: MergeType, apiVersion = String(at(sent, '/apiVersion'))) {
  return {
    type,
    manager: query.fieldManager ?? 'recorder',
    apiVersion,
    time: '2026-01-01T00:00:00Z',
    ...(subresource === undefined ? {} : { subresource }),
    ...(hasStatus(sent) ? {} : { reset: [] }),
  };
}

/** The recorded kinds without a status subresource whose objects have a status nevertheless. */
function hasStatus(object: Json): boolean {
  return at(object, '/kind') !== 'Plain';
}

function isTaken({ status, answer }: Write): boolean {
  return status <= 201 && at(answer, '/metadata/name') !== undefined;
}

function isConflict({ status, answer }: Write): boolean {
  return status === 409 && at(answer, '/details/causes/0/reason') === 'FieldManagerConflict';
}

const APPLIES = WRITES.filter(
  (write) => write.isApply && (isTaken(write) || isConflict(write)) && isObject(write.sent),
);
const UPDATES = WRITES.filter(
  (write) =>
    !write.isApply &&
    isTaken(write) &&
    write.subresource !== 'scale' &&
    isObject(write.answer) &&
    write.answer.kind !== 'CustomResourceDefinition',
);

function apply(write: Write): { conflicts: string[] } | { entries: string[] } | { invalid: readonly string[] } {
  const type = typeOf(write.sent);
  if (type === undefined) return { invalid: ['no type'] };
  const live = write.before === undefined ? {} : { live: write.before };
  const applied = write.sent as unknown as KubeObject;
  const result = serverSideApply({ ...contextOf(write, type), ...live, applied, force: write.query.force === 'true' });
  if ('conflicts' in result)
    return { conflicts: result.conflicts.map(({ manager, path }) => `${manager} ${path}`).sort() };
  return 'invalid' in result ? result : { entries: entries(result.object) };
}

function answered(write: Write): ReturnType<typeof apply> {
  if (!isConflict(write)) return { entries: entries(write.answer) };
  const causes = at(write.answer, '/details/causes') as JsonObject[];
  return { conflicts: causes.map(({ message, field }) => `${/"([^"]*)"/.exec(String(message))?.[1]} ${field}`).sort() };
}

/** What an apply with force would have changed, as the server showed it. */
function realVerdict({ before, answer }: Write): Result {
  return canonicalJson(essence(before as unknown as Json)) === canonicalJson(essence(answer)) ? 'unchanged' : 'changed';
}

function essence(object: Json | undefined): Json {
  if (!isObject(object) || !isObject(object.metadata)) return null;
  const { resourceVersion: _version, generation: _generation, managedFields: _entries, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, managedFields: entries(object) } };
}

function localVerdict(write: Write): Result {
  const { before, sent, query } = write;
  if (before === undefined) return 'changed';
  return compare(sent as unknown as KubeObject, before, typeOf(sent), query.fieldManager ?? 'recorder').result;
}

/** What a server fills in after it looked who owns what: there it saw what was sent. */
const FILLED_LATER: Readonly<Record<string, readonly string[]>> = {
  Service: ['/spec/clusterIP', '/spec/clusterIPs', '/spec/ipFamilies', '/spec/ipFamilyPolicy'],
  Namespace: ['/spec', '/status'],
  Role: ['/rules'],
};

function asTracked({ before, sent, answer }: Write): JsonObject {
  const tracked = structuredClone(answer) as JsonObject;
  const later = before === undefined ? (FILLED_LATER[String(tracked.kind)] ?? []) : [];
  for (const pointer of later) {
    const tokens = pointer.split('/').slice(1);
    const field = tokens.pop() ?? '';
    const parent = tokens.reduce<JsonObject>((object, token) => object[token] as JsonObject, tracked);
    const value = at(sent, pointer);
    if (value === undefined) delete parent[field];
    else parent[field] = value;
  }
  return tracked;
}

function title({ scenario, reason }: Write): string {
  return `${scenario}: ${reason}`;
}

describe('server-side apply gives the managedFields and conflicts of the server', () => {
  test.each(APPLIES.map((write) => [title(write), write] as const))('%s', (_title, write) => {
    expect(apply(write)).toEqual(answered(write));
  });
});

describe('other writes give the managedFields of the server', () => {
  test.each(UPDATES.map((write) => [title(write), write] as const))('%s', (_title, write) => {
    const type = typeOf(write.answer);
    expect(type, 'the type of the kind').toBeDefined();
    const sent = isObject(write.sent) ? at(write.sent, '/metadata/managedFields') : undefined;
    const after = asTracked(write) as unknown as KubeObject;
    delete after.metadata.managedFields;
    if (sent !== undefined) after.metadata.managedFields = sent as unknown as ManagedFieldsEntry[];
    const before = write.before === undefined ? {} : { before: write.before };
    const context = contextOf(write, type!, String(at(write.answer, '/apiVersion')));
    expect(entries(trackUpdate({ ...context, ...before, after }))).toEqual(entries(write.answer));
  });
});

describe('the verdict from the living object alone is that of the server', () => {
  const judged = APPLIES.filter(
    (write) => isTaken(write) && write.subresource === undefined && write.before !== undefined,
  );
  const undecided = judged.filter((write) => localVerdict(write) === 'unknown');

  test.each(judged.filter((write) => !undecided.includes(write)).map((write) => [title(write), write] as const))(
    '%s',
    (_title, write) => {
      expect(localVerdict(write)).toBe(realVerdict(write));
    },
  );

  test('only these cannot be told without the server', () => {
    expect(undecided.map(title)).toEqual([
      'apply-atomic: an empty list is a value',
      'apply-selector: fewer keys replace the whole map',
      'custom-applied-definition: another schema moves the generation',
    ]);
  });
});
