// Walks test/reconciler/kinds/<kind>: every file is a claim about its kind. What follows from a valid resource is in
// expected/<name>.yaml (children) and expected/<name>.status.yaml, what is wrong with an invalid one in
// expected/<name>.txt. `UPDATE_EXPECTED=1 npx vitest run test/reconciler/kinds` writes these files again.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { VIRTUAL_CODES } from '#contracts/virtual-model/codes.ts';
import { SCHEMA_CODES } from '#kubernetes/rules/structural/codes.ts';
import { KINDS_CODES } from '#reconciler/kinds/codes.ts';
import { fieldsOf } from '#reconciler/kinds/fields.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { expectFile } from '../../harness/expected-file.ts';
import { type Fixture, FOLDER, readFixtures, SETTINGS } from './fixture.ts';

/** Those that no one but the kinds finds. */
const OWN_CODES = [...Object.keys(KINDS_CODES), ...Object.keys(VIRTUAL_CODES)];
const CODES = [...OWN_CODES, ...Object.keys(SCHEMA_CODES), 'reference-missing', 'reference-key-missing'];

const fixtures = new Map(KINDS.map((kind) => [kind, readFixtures(kind)]));

describe.each(KINDS.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
  const all = fixtures.get(kind) ?? [];
  const valid = all.filter(({ name }) => !name.startsWith('invalid-'));
  const invalid = all.filter(({ name }) => name.startsWith('invalid-'));

  it.each(valid)('$name is valid, and becomes what is expected', (fixture) => {
    expect(fixture.problems.filter((problem) => !problem.includes(' warning '))).toEqual([]);
    checkExpected(fixture, 'yaml', childrenText(fixture));
    checkExpected(fixture, 'status.yaml', factsText(fixture));
  });

  it.each(invalid)('$name trips what its name says and nothing else', (fixture) => {
    checkExpected(fixture, 'txt', `${fixture.problems.join('\n')}\n`);
    expect([...new Set(fixture.codes)]).toEqual(claimedCodes(fixture.name));
  });

  it('has its every field set in full*.yaml', () => {
    const full = valid.filter(({ name }) => name.startsWith('full')).map(({ written }) => written.spec ?? {});
    const leaves = fieldsOf(kind.schema.spec, 'spec').filter(({ leaf }) => leaf);
    const unset = leaves.filter(({ path }) => !full.some((spec) => isSet({ spec }, path.split('.'))));
    expect(unset.map(({ path }) => path)).toEqual([]);
  });

  it('has a fixture for its every CEL message', () => {
    const reported = invalid.flatMap(({ problems }) => problems).join('\n');
    expect(messagesOf(kind).filter((message) => !reported.includes(message))).toEqual([]);
  });

  it('names every object that it makes', () => {
    for (const { resource, view } of valid) {
      const named = new Set(kind.makes(resource).map(({ apiVersion, kind, name }) => `${apiVersion} ${kind} ${name}`));
      const generated = kind.generated(resource, SETTINGS).map(({ object }) => object);
      const made = [...kind.children(resource, view, SETTINGS), ...generated].map(
        ({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`,
      );
      expect(made.filter((name) => !named.has(name))).toEqual([]);
    }
  });

  it('gives the same children and status for the same input', () => {
    for (const fixture of valid) expect(childrenText(fixture)).toBe(childrenText(structuredCloneOf(fixture)));
  });

  it('expects nothing of fixtures that are gone', () => {
    const names = new Set(all.flatMap(({ name }) => ['yaml', 'status.yaml', 'txt'].map((end) => `${name}.${end}`)));
    expect(readdirSync(join(FOLDER, kind.singular, 'expected')).filter((file) => !names.has(file))).toEqual([]);
  });
});

it('has a fixture for every code of the kinds', () => {
  const tripped = new Set([...fixtures.values()].flat().flatMap(({ codes }) => codes));
  expect(OWN_CODES.filter((code) => !tripped.has(code))).toEqual([]);
});

function checkExpected({ kind, name }: Fixture, extension: string, actual: string): void {
  expectFile(join(FOLDER, kind.singular, 'expected', `${name}.${extension}`), actual);
}

function childrenText({ kind, resource, view }: Fixture): string {
  return kind
    .children(resource, view, SETTINGS)
    .concat(kind.generated(resource, SETTINGS).map(({ object, random }) => ({ ...object, random })))
    .map((child) => yaml(child))
    .join('---\n');
}

/** Everything else that the pipeline asks of a kind. */
function factsText({ kind, resource, view, problems }: Fixture): string {
  const status = kind.status(resource, { view, refusals: [], failures: [], now: '2026-11-21T12:00:00Z' });
  return yaml({
    status,
    warnings: problems,
    references: kind.references(resource).map(({ pointer, kind, name, key, optional }) => {
      return `${pointer} -> ${kind} ${name}${key === undefined ? '' : ` (${key})`}${optional !== undefined ? ', optional' : ''}`;
    }),
    images: kind.images(resource).map(({ image }) => image),
    sources: kind.sources(resource),
    enforces: kind.enforces(resource),
    exposes: kind.exposes(resource, view),
  });
}

function yaml(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** `invalid-<code>-<what>`, or `invalid-<code>+<code>-<what>`: of the last, the longest code that fits. */
function claimedCodes(name: string): readonly string[] {
  const claim = name === 'invalid-pod-template' ? name : name.slice('invalid-'.length);
  const parts = claim.split('+');
  const last = `${parts.pop()}-`;
  const fitting = CODES.filter((code) => last.startsWith(`${code}-`)).sort((a, b) => b.length - a.length);
  return [...parts, ...fitting.slice(0, 1)];
}

function isSet(value: Json | undefined, [token, ...rest]: readonly string[]): boolean {
  if (token === undefined) return value !== undefined;
  const key = token.replaceAll(/(\[\]|\{\})+$/g, '');
  const child = isObject(value) ? value[key] : undefined;
  if (token.endsWith('{}') && isObject(child)) return Object.values(child).some((item) => isSet(item, rest));
  if (!token.endsWith('[]') || !Array.isArray(child)) return isSet(child, rest);
  return child.some((item) => isSet(item, rest));
}

function messagesOf(kind: Kind): string[] {
  const inside = (schema: JsonObject): string[] => {
    const { items, properties, additionalProperties } = schema;
    const rules = schema['x-kubernetes-validations'];
    return [
      ...(Array.isArray(rules) ? rules.filter(isObject).map(({ message }) => String(message)) : []),
      ...(isObject(items) ? inside(items) : []),
      ...(isObject(additionalProperties) ? inside(additionalProperties) : []),
      ...(isObject(properties) ? Object.values(properties).filter(isObject).flatMap(inside) : []),
    ];
  };
  return [...kind.schema.validations.map(({ message }) => message), ...inside(kind.schema.spec)];
}

function structuredCloneOf(fixture: Fixture): Fixture {
  return { ...fixture, resource: structuredClone(fixture.resource) };
}
