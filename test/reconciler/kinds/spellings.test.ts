// Every valid fixture, written in the spelling of the other version, becomes the same: children, references, endpoints and
// status. Each spelling of v1alpha1 in an object of v1beta1 has a warning at its place, and no spelling of v1beta1 has one.

import { expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind, Resource } from '#reconciler/kinds/kind.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { deprecationOf, NEW_WORDS, REFERENCE } from '#std/schema/marks.ts';
import { contentFindings, type Fixture, readFixtures, SETTINGS, schemas } from './fixture.ts';

const FIXTURES = KINDS.map((kind) => ({
  kind,
  name: kind.kind,
  valid: readFixtures(kind).filter(({ name, written }) => {
    return !name.startsWith('invalid-') && String(written.apiVersion).endsWith('/v1alpha1');
  }),
}));

/** The value with the names, words and shapes of v1beta1; `moved` gets the fields with a place elsewhere, by their path. */
function respelled(schema: JsonObject, value: Json, moved: Map<string, Json>): Json {
  const { properties, items, additionalProperties } = schema;
  if (typeof value === 'string') {
    const words = isObject(schema[NEW_WORDS]) ? schema[NEW_WORDS] : {};
    if (schema[REFERENCE] === true) return { name: value };
    return words[value] ?? value;
  }
  if (Array.isArray(value)) {
    return isObject(items) ? value.map((item) => respelled(items, item, moved)) : value;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, child]): [string, Json | undefined][] => {
    const field = isObject(properties) ? properties[key] : additionalProperties;
    if (!isObject(field) || child === undefined) return [[key, child]];
    const { use, since } = deprecationOf(field) ?? { use: key };
    const name = since === undefined ? key : use;
    const spelled = respelled(field, child, moved);
    if (since === undefined || !name.includes('.')) return [[name, spelled]];
    moved.set(name, spelled);
    return [];
  });
  return Object.fromEntries(entries);
}

function inNewVersion({ kind, written }: Fixture): JsonObject {
  const moved = new Map<string, Json>();
  const spec = respelled(kind.schema.spec, written.spec ?? {}, moved) as JsonObject;
  const group = moved.get('spec.groupRef');
  const whole = group === undefined ? spec : { ...spec, groupRef: { name: group } };
  return { ...written, apiVersion: String(written.apiVersion).replace('v1alpha1', 'v1beta1'), spec: whole };
}

function withDefaults(kind: Kind, written: JsonObject): Resource {
  const schema = schemas.get(kind);
  const plain = schema?.withDefaults(written) ?? {};
  const findings = [...(schema?.unknownFields(written) ?? []), ...(schema?.validate(plain) ?? [])];
  expect(findings.map(({ message }) => message)).toEqual([]);
  const defaulted: unknown = plain;
  return defaulted as Resource;
}

function outcome({ kind, view }: Fixture, resource: Resource) {
  const status = kind.status(resource, { view, refusals: [], failures: [], now: '2026-11-21T12:00:00Z' });
  const { externalURL, externalUrl = externalURL, ...others } = status;
  return {
    children: kind.children(resource, view, SETTINGS),
    generated: kind.generated(resource, SETTINGS).map(({ object, random }) => [object, random]),
    references: kind.references(resource).map(({ pointer: _, ...reference }) => reference),
    status: { ...others, externalUrl },
    exposes: kind.exposes(resource, view),
    images: kind.images(resource).map(({ image }) => image),
  };
}

test.each(FIXTURES)('$name becomes the same in either spelling', ({ kind, valid }) => {
  expect(valid.length).toBeGreaterThan(0);
  for (const fixture of valid) {
    const resource = withDefaults(kind, inNewVersion(fixture));
    expect(outcome(fixture, resource), fixture.name).toEqual(outcome(fixture, fixture.resource));
  }
});

test.each(FIXTURES)('$name has a warning for each spelling of v1alpha1 in v1beta1, at its place', ({ kind, valid }) => {
  for (const fixture of valid) {
    const warned = (written: JsonObject) =>
      contentFindings(kind, withDefaults(kind, written), written, fixture.view)
        .filter(({ message }) => message.includes('deprecated in v1beta1'))
        .map(({ pointer }) => pointer);
    const renamed = {
      ...fixture.written,
      apiVersion: String(fixture.written.apiVersion).replace('v1alpha1', 'v1beta1'),
    };
    const changed = differences(fixture.written.spec ?? {}, inNewVersion(fixture).spec ?? {}, '/spec');
    expect(warned(fixture.written), fixture.name).toEqual([]);
    expect(warned(inNewVersion(fixture)), fixture.name).toEqual([]);
    expect(warned(renamed).toSorted(), fixture.name).toEqual(changed.toSorted());
  }
});

/** Pointers to the values of `before` that `after` has not, or has in another shape. */
function differences(before: Json, after: Json | undefined, pointer: string): readonly string[] {
  if (!isObject(before) && !Array.isArray(before)) return before === after ? [] : [pointer];
  const other = isObject(after) || Array.isArray(after) ? Object.entries(after) : [];
  const there = new Map(other);
  return Object.entries(before).flatMap(([key, child]) => {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!there.has(key)) return [at];
    return differences(child ?? null, there.get(key), at);
  });
}
