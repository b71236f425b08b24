// What a spec and a configuration file both have fits the same values in both, wherever it is defined: what passes in a
// manifest must never be refused by the program that reads the file, nor the other way round.

import { expect, test } from 'vitest';
import { fileForm } from '#contracts/file-form.ts';
import { REGISTRY_CONFIG_SCHEMA } from '#contracts/registry/config.ts';
import { RUN_CONFIG_SCHEMA } from '#contracts/run-config.ts';
import { VMCP_CONFIG_SCHEMA } from '#contracts/vmcp-config.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { canonicalJson, isObject, type JsonObject } from '#std/json.ts';

const FILES = { run: RUN_CONFIG_SCHEMA, vmcp: VMCP_CONFIG_SCHEMA, registry: REGISTRY_CONFIG_SCHEMA };

type Place = readonly [kind: string, spec: string, file: keyof typeof FILES, at: string];

/** Where a part of a spec comes to lie in a file. `*` is each entry of a list, and each key of a map. */
const PLACES: readonly Place[] = [
  ['VirtualMCPServer', '/config', 'vmcp', ''],
  ['VirtualMCPServer', '/sessionStorage', 'vmcp', '/sessionStorage'],
  ['VirtualMCPServer', '/incomingAuth/oidcConfig/inline', 'vmcp', '/incomingAuth/oidc'],
  ['VirtualMCPCompositeToolDefinition', '', 'vmcp', '/compositeTools/*'],
  ['MCPToolConfig', '/toolsFilter', 'vmcp', '/aggregation/tools/*/filter'],
  ['MCPToolConfig', '/toolsOverride', 'vmcp', '/aggregation/tools/*/overrides'],
  ['MCPToolConfig', '/toolsFilter', 'run', '/tools_filter'],
  ['MCPToolConfig', '/toolsOverride', 'run', '/tools_override'],
  ...['MCPServer', 'MCPRemoteProxy'].flatMap((kind) => [
    [kind, '', 'run', ''] as const,
    [kind, '/telemetry/openTelemetry', 'run', '/telemetry_config'] as const,
    [kind, '/telemetry/openTelemetry/tracing', 'run', '/telemetry_config'] as const,
    [kind, '/audit', 'run', '/audit_config'] as const,
    [kind, '/oidcConfig/inline', 'run', '/oidc_config'] as const,
  ]),
  ['MCPServer', '/sessionStorage', 'run', '/scaling_config/session_redis'],
  ['MCPRegistry', '', 'registry', ''],
  ['MCPRegistry', '/databaseConfig', 'registry', '/database'],
  ['MCPRegistry', '/authConfig', 'registry', '/auth'],
];

/** Fields that differ, and why; `...` is everything below. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'VirtualMCPServer/config vmcp/groupref': 'for people there, and the name of the server where it has no group',
  'VirtualMCPServer/incomingAuth/oidcConfig/inline vmcp/incomingAuth/oidc/issuer':
    'a rule of the manifest says what is wrong with an issuer that is not a URL',
  'VirtualMCPServer/config vmcp/outgoingauth/...':
    'the file also has what MCPExternalAuthConfigs come to, with names of variables that are put together',
  'VirtualMCPServer/config vmcp/audit/enabled': 'a server without an audit log has no such block',
  'VirtualMCPServer/sessionStorage vmcp/sessionStorage/provider': 'sessions in memory have no such block',
  'MCPServer run/volumes...': 'written as one text each',
  'MCPServer/telemetry/openTelemetry run/telemetry_config/headers...': 'split into names and values',
  'MCPRemoteProxy/telemetry/openTelemetry run/telemetry_config/headers...': 'split into names and values',
  'MCPRegistry/authConfig registry/auth/oauth/resourceurl': 'written from the Service where it is left out',
  'MCPRegistry/authConfig registry/auth/oauth/providers':
    'a rule of the file says that one is missing, with what to do',
  'MCPRemoteProxy run/transport': 'a remote server has no standard streams',
  'MCPRemoteProxy run/headerforward/addheadersfromsecret...': 'references there, identifiers here',
};

test.each(PLACES)('%s%s and %s%s fit the same values', (kind, from, file, at) => {
  const found = differencesAt([kind, from, file, at]).filter(({ path }) => reasonOf(path) === undefined);
  expect(found).toEqual([]);
});

test('no field has a reason to differ that does not differ', () => {
  const used = PLACES.flatMap((place) => differencesAt(place).map(({ path }) => reasonOf(path)));
  expect(Object.keys(DIFFERENT).filter((path) => !used.includes(path))).toEqual([]);
});

function reasonOf(path: string): string | undefined {
  return Object.keys(DIFFERENT).find((field) =>
    field.endsWith('...') ? path.startsWith(field.slice(0, -3)) : path === field,
  );
}

interface Difference {
  readonly path: string;
  readonly spec: string;
  readonly file: string;
}

function differencesAt([kind, from, file, at]: Place): readonly Difference[] {
  const spec = KINDS.find((each) => each.kind === kind)?.schema.spec;
  return differences(placeIn(fileForm(spec ?? {}), from), placeIn(FILES[file], at), `${kind}${from} ${file}${at}`);
}

function placeIn(schema: unknown, pointer: string): JsonObject {
  const found = pointer
    .split('/')
    .slice(1)
    .reduce((place: unknown, key) => fieldsOf(place).get(wordOf(key)), schema);
  if (!isObject(found)) throw new Error(`nothing at ${pointer}`);
  return found;
}

/** Below a schema, by names without case and underscores: files of proxies are in snake case. */
function fieldsOf(schema: unknown): ReadonlyMap<string, unknown> {
  if (!isObject(schema)) return new Map();
  const { properties, items, additionalProperties, patternProperties } = schema;
  if (isObject(properties)) return new Map(Object.entries(properties).map(([key, field]) => [wordOf(key), field]));
  const [value] = isObject(patternProperties) ? Object.values(patternProperties) : [];
  const each = [items, additionalProperties, value].find(isObject);
  return new Map(each === undefined ? [] : [['*', each]]);
}

function wordOf(key: string): string {
  return key.replaceAll('_', '').toLowerCase();
}

/** Of all fields that both have, those that bound their values otherwise. */
function differences(spec: unknown, file: unknown, path: string): readonly Difference[] {
  const [one, other] = [boundsOf(spec), boundsOf(file)];
  const fields = fieldsOf(file);
  return [
    ...(one === other || one === withoutEmpty(other) ? [] : [{ path, spec: one, file: other }]),
    ...[...fieldsOf(spec)].flatMap(([key, field]) =>
      fields.has(key) ? differences(field, fields.get(key), `${path}/${key}`) : [],
    ),
  ];
}

/** An empty text of a spec means none, as ToolHive's clients write it; a file has none then. */
function withoutEmpty(bounds: string): string {
  return bounds.replace('"minLength":1,', '');
}

const BOUNDS = ['type', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems'] as const;

function boundsOf(schema: unknown): string {
  if (!isObject(schema)) return '';
  const bounds = BOUNDS.map((word) => [word, schema[word]]);
  const choices = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? undefined : [schema.const];
  const type = schema.type ?? (choices === undefined ? undefined : 'string');
  return canonicalJson({ ...Object.fromEntries(bounds), type, choices: choices?.toSorted() });
}
