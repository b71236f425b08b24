// No key of `configYAML` is without effect: the fixture has every key of its schema, every value of the fixture is changed, and
// the children, the sources, the database or a problem must change with it.

import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { CONFIG_YAML, REFUSED_KEYS } from '#contracts/registry/config-yaml.ts';
import { MCPRegistry } from '#reconciler/kinds/mcpregistry/index.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { type Fixture, readFixtures, SETTINGS } from './fixture.ts';
import { fieldOf, othersThan, placesOf, withValue } from './mutations.ts';

const fixture = readFixtures(MCPRegistry).find(({ name }) => name === 'full-config-yaml');
assert(fixture !== undefined);
const written: JsonObject = parse(textOf(fixture));

function textOf({ resource }: Fixture): string {
  return String(resource.spec.configYAML);
}

/** What follows from the text, but for the digest of the spec that has it. */
function outcome(text: string): string {
  assert(fixture !== undefined);
  const { resource, view } = fixture;
  const changed = { ...resource, spec: { ...resource.spec, configYAML: text } };
  const results = [
    MCPRegistry.rules(changed, changed.spec),
    MCPRegistry.children(changed, view, SETTINGS),
    MCPRegistry.sources(changed),
    MCPRegistry.database(changed),
  ];
  return JSON.stringify(results).replace(/"[^"]*\/config-hash":"[^"]*"/, '');
}

test('every value of the fixture has an effect', () => {
  const before = outcome(stringify(written));
  const idle = placesOf(written).filter(({ path, value }) => {
    const others = othersThan(value, []);
    assert(others.length > 0, `${path.join('.')} can have another value`);
    return others.every((other) => outcome(stringify(withValue(written, path, other))) === before);
  });
  expect(idle.map(fieldOf)).toEqual([]);
});

test('the fixture has every key of the schema', () => {
  const known = JSON.parse(JSON.stringify(CONFIG_YAML));
  const set = new Set(placesOf(written).map((place) => fieldOf(place).replaceAll('.[]', '[]')));
  expect(leavesOf(known).filter((leaf) => ![...set].some((path) => path.startsWith(leaf)))).toEqual([]);
});

test('no refused key is in the schema', () => {
  const known = new Set(leavesOf(JSON.parse(JSON.stringify(CONFIG_YAML))));
  const refused = Object.keys(REFUSED_KEYS).map((pointer) =>
    pointer.slice(1).replaceAll('/*', '[]').replaceAll('/', '.'),
  );
  expect(refused.filter((key) => [...known].some((leaf) => leaf === key || leaf.startsWith(`${key}.`)))).toEqual([]);
});

/** Paths of the values that a schema describes: `sources[].git.branch`. */
function leavesOf(schema: Json | undefined, path = ''): readonly string[] {
  if (!isObject(schema)) return [];
  const { properties, items } = schema;
  if (isObject(items)) return leavesOf(items, `${path}[]`);
  if (!isObject(properties)) return [path];
  return Object.entries(properties).flatMap(([name, field]) => leavesOf(field, path === '' ? name : `${path}.${name}`));
}
