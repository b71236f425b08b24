// Every field that holds a URL, an address or a value of some format is checked when it is committed, and again by the
// program that reads it: a field of such a name is refused with a value that is neither, or listed here with a reason.

import { expect, test } from 'vitest';
import { REGISTRY_CONFIG_SCHEMA } from '#contracts/registry/config.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { RUN_CONFIG_SCHEMA } from '#contracts/run-config.ts';
import { VMCP_CONFIG_SCHEMA } from '#contracts/vmcp-config.ts';
import { CONFIG_SCHEMA } from '#hosts/config/config.ts';
import { fieldsOf, flat, lastName, type SpecField } from '#reconciler/kinds/fields.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Resource } from '#reconciler/kinds/kind.ts';
import { addressFaults } from '#std/address/address.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { contentFindings, type Fixture, readFixtures, schemas } from './fixture.ts';

const BAD = '::bad::';
/** `::bad::` is a path. */
const BAD_PATH = 'http://x y';
const NAMES = /(url|uri|endpoint|address|addrs|issuer|resource|prefix|embedding_?service|arn|repository)$/i;
const KUBERNETES_NUMBERS = ['int32', 'int64'];

/** Fields that are not checked, and why. */
const UNCHECKED: Readonly<Record<string, string>> = {
  keyPrefix: 'the keys of Redis may begin with any text',
  key_prefix: 'the keys of Redis may begin with any text',
};

function isAddress(field: SpecField): boolean {
  const { format } = innermost(field.schema);
  const hasFormat = typeof format === 'string' && !KUBERNETES_NUMBERS.includes(format);
  const holdsText = field.type.startsWith('string') || field.type.startsWith('any');
  return holdsText && (hasFormat || NAMES.test(lastName(field)));
}

function innermost(schema: JsonObject): JsonObject {
  const inner = schema.items ?? schema.additionalProperties;
  return isObject(inner) ? innermost(inner) : schema;
}

function addressesOf(schema: JsonObject): readonly SpecField[] {
  return flat(fieldsOf(schema, '')).filter((field, index, all) => {
    return all.findIndex(({ path }) => path === field.path) === index && isAddress(field);
  });
}

/** A copy with the bad value at every place of the path that has a value; undefined if there is none. */
function withBad(value: Json | undefined, [key = '', ...rest]: readonly string[], bad: string): Json | undefined {
  if (value === undefined) return undefined;
  const name = key.replaceAll(/\[\]|\{\}/g, '');
  const marks = key.slice(name.length).match(/\[\]|\{\}/g) ?? [];
  if (!isObject(value) || value[name] === undefined) return undefined;
  const inside = changed(value[name], marks, rest, bad);
  return inside === undefined ? undefined : { ...value, [name]: inside };
}

function changed(
  value: Json,
  [mark, ...marks]: readonly string[],
  rest: readonly string[],
  bad: string,
): Json | undefined {
  if (mark === undefined) return rest.length === 0 ? badOf(value, bad) : withBad(value, rest, bad);
  const entries: readonly [string, Json | undefined][] =
    isObject(value) || Array.isArray(value) ? Object.entries(value) : [];
  const others = entries.map(
    ([key, each]) => [key, each === undefined ? undefined : changed(each, marks, rest, bad)] as const,
  );
  if (others.every(([, each]) => each === undefined)) return undefined;
  const filled = entries.map(([key, each], index) => [key, others[index]?.[1] ?? each] as const);
  return Array.isArray(value) ? filled.map(([, each]) => each ?? null) : Object.fromEntries(filled);
}

function badOf(value: Json, bad: string): Json {
  return Array.isArray(value) ? value.map(() => bad) : bad;
}

function badFor(path: string): string {
  return /endpoint_?prefix$/i.test(path) ? BAD_PATH : BAD;
}

/** The first error about the value in a fixture that has the field; undefined: the value is accepted, or no fixture has it. */
function refusal(fixtures: readonly Fixture[], path: string): string | undefined {
  for (const fixture of fixtures) {
    const spec = withBad(fixture.written.spec, path.split('.'), badFor(path));
    if (spec === undefined) continue;
    const written = { ...fixture.written, spec } as JsonObject;
    const schema = schemas.get(fixture.kind);
    const resource = schema?.withDefaults(written);
    if (schema === undefined || resource === undefined) continue;
    const shape = schema.validate(resource);
    const plain: unknown = resource;
    const found = shape.length > 0 ? shape : contentFindings(fixture.kind, plain as Resource, written, fixture.view);
    const error = found.find(({ severity }) => severity === 'error');
    if (error !== undefined) return error.message;
  }
  return undefined;
}

test.each(KINDS.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
  const fixtures = readFixtures(kind).filter(({ name }) => !name.startsWith('invalid-'));
  const addresses = addressesOf(kind.schema.spec).filter((field) => UNCHECKED[lastName(field)] === undefined);
  const accepted = addresses.filter(({ path }) => refusal(fixtures, path) === undefined);
  expect(accepted.map(({ path }) => path)).toEqual([]);
});

const FILES = { run: RUN_CONFIG_SCHEMA, vmcp: VMCP_CONFIG_SCHEMA, skep: CONFIG_SCHEMA };

/** What the schema alone says of the value at this place. */
function isRefused({ schema, path }: SpecField): boolean {
  const inner = innermost(schema);
  if (typeof inner.pattern === 'string' && !new RegExp(inner.pattern).test(badFor(path))) return true;
  return addressFaults(inner as Parameters<typeof addressFaults>[0], badFor(path)).length > 0;
}

test.each(Object.entries(FILES))('the file %s', (_name, schema) => {
  const plain: JsonObject = JSON.parse(JSON.stringify(schema));
  const addresses = addressesOf(plain).filter((field) => UNCHECKED[lastName(field)] === undefined);
  expect(addresses.length).toBeGreaterThan(2);
  expect(addresses.filter((field) => !isRefused(field)).map(({ path }) => path)).toEqual(OF_CREDENTIALS[_name] ?? []);
});

/** Fields of a file that are checked by the program when it makes the credential, at the start and on reload. */
const OF_CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  run: ['aws_sts_config.fallback_role_arn', 'aws_sts_config.role_mappings[].role_arn'],
};

test('the file of a registry', () => {
  const PROVIDER = { name: 'p', issuerUrl: 'https://a', audience: 'a' };
  const URL_OF_NOTHING = 'https://[::bad::';
  const read = (registry: object, oauth?: object) =>
    readRegistryConfig(
      JSON.stringify({
        registries: [{ name: 'a', ...registry }],
        auth: oauth === undefined ? { mode: 'anonymous' } : { mode: 'oauth', oauth },
      }),
      'registry.yaml',
    );
  const secured = (provider: object, resourceUrl = 'https://a') =>
    read({ managed: {} }, { resourceUrl, providers: [{ ...PROVIDER, ...provider }] });
  const rows: Readonly<Record<string, ReturnType<typeof read>>> = {
    'registries[].api.endpoint': read({ api: { endpoint: URL_OF_NOTHING } }),
    'registries[].file.url': read({ file: { url: URL_OF_NOTHING } }),
    'registries[].git.repository': read({ git: { repository: URL_OF_NOTHING, path: 'a.json' } }),
    'auth.oauth.resourceUrl': secured({}, URL_OF_NOTHING),
    'auth.oauth.providers[].issuerUrl': secured({ issuerUrl: URL_OF_NOTHING }),
    'auth.oauth.providers[].jwksUrl': secured({ jwksUrl: URL_OF_NOTHING }),
    'auth.oauth.providers[].introspectionUrl': secured({ introspectionUrl: URL_OF_NOTHING }),
  };
  const plain: JsonObject = JSON.parse(JSON.stringify(REGISTRY_CONFIG_SCHEMA));
  expect(
    addressesOf(plain)
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(Object.keys(rows).toSorted());
  expect(Object.entries(rows).filter(([, each]) => 'config' in each)).toEqual([]);
  expect('config' in secured({})).toBe(true);
  expect('config' in read({ git: { repository: 'https://a/b', path: 'a.json' } })).toBe(true);
});
