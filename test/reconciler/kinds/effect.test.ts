// No field is without effect: every value in every valid fixture is changed, and something that follows from it must change
// with it (children, what is generated, status, endpoints, problems), or a warning says that it has no effect there. That a
// Secret or a ConfigMap is demanded is not an effect of its name. Fields without effect for a reason are listed, with the reason.

import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind, Resource } from '#reconciler/kinds/kind.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { OLD_WORDS } from '#std/schema/marks.ts';
import { contentFindings, type Fixture, readFixtures, SETTINGS, schemas, viewAround } from './fixture.ts';
import { fieldOf, othersThan, type Place, placesOf, withValue } from './mutations.ts';

/** What may begin so, `<kind> <field> (<fixture>)`, without that anything follows. */
const IDLE: readonly { readonly of: string; readonly reason: string }[] = [
  { of: 'MCPGroup spec.description ', reason: 'it is for those who read the manifest' },
  {
    of: 'MCPServer spec.resources.limits.memory (full)',
    reason: 'podTemplateSpec says the same of the container, and wins',
  },
  {
    of: 'EmbeddingServer spec.resources.limits.memory (full)',
    reason: 'podTemplateSpec says the same of the container, and wins',
  },
  { of: 'MCPServer spec.resourceOverrides.proxyDeployment.labels.app ', reason: 'generated labels win' },
  { of: 'MCPRemoteProxy spec.resourceOverrides.proxyDeployment.labels.app ', reason: 'generated labels win' },
  {
    of: 'MCPServer spec.resourceOverrides.proxyDeployment.podTemplateMetadataOverrides.annotations.toolhive.stacklok.dev/runconfig-checksum ',
    reason: 'generated annotations win',
  },
  {
    of: 'MCPRemoteProxy spec.resourceOverrides.proxyDeployment.podTemplateMetadataOverrides.annotations.toolhive.stacklok.dev/runconfig-checksum ',
    reason: 'generated annotations win',
  },
  {
    of: 'EmbeddingServer spec.resourceOverrides.statefulSet.podTemplateMetadataOverrides.labels.',
    reason: 'the labels by which pods are found stay what they are',
  },
  {
    of: 'VirtualMCPServer spec.config.outgoingAuth.default.',
    reason: 'each backend of these fixtures has a strategy of its own',
  },
];

const fixtures = KINDS.map((kind) => ({
  kind,
  valid: readFixtures(kind).filter(({ name }) => !name.startsWith('invalid-')),
}));

test.each(fixtures)('$kind.kind has no field without effect', ({ kind, valid }) => {
  const idle = valid.flatMap((fixture) => idlePlaces(fixture));
  // What is set elsewhere counts: settings have their effect in those who use them.
  const used = new Set(fixtures.flatMap((each) => each.valid.flatMap((fixture) => usedAround(fixture, kind))));
  const named = idle.map(({ field, fixture }) => ({ field: `${kind.kind} ${field}`, fixture }));
  const unused = named.flatMap(({ field, fixture }) => (used.has(field) ? [] : [`${field} (${fixture})`]));
  expect(unused.filter((field) => !IDLE.some(({ of }) => field.startsWith(of))).sort()).toEqual([]);
  const listed = IDLE.filter(({ of }) => of.startsWith(`${kind.kind} `));
  expect(listed.filter(({ of }) => !unused.some((field) => field.startsWith(of)))).toEqual([]);
});

/** What can be changed without anything following. */
function idlePlaces(fixture: Fixture): readonly { readonly field: string; readonly fixture: string }[] {
  const { kind, written, around } = fixture;
  const before = outcome(kind, written, around);
  assert(before !== undefined, `${fixture.name} is valid`);
  return placesOf(written.spec, ['spec']).flatMap((place) => {
    if (before.warned.some((pointer) => place.pointer === pointer || place.pointer.startsWith(`${pointer}/`)))
      return [];
    const users = usersOf(kind, written);
    const after = changed(kind, written, place, (other) => outcome(kind, other, around));
    if (after !== before.text) return [];
    const noticed = users.some((user) => {
      const text = (config: JsonObject) => outcome(user.kind, user.manifest, [...around, GROUP, config])?.text;
      return changed(kind, written, place, (other) => ({ text: text(other) ?? '' })) !== text(written);
    });
    return noticed ? [] : [{ field: fieldOf(place), fixture: fixture.name }];
  });
}

const GROUP: JsonObject = {
  apiVersion: 'toolhive.stacklok.dev/v1alpha1',
  kind: 'MCPGroup',
  metadata: { name: 'none', namespace: 'agents' },
  spec: {},
};

interface User {
  readonly kind: Kind;
  readonly manifest: JsonObject;
}

/** Resources that name one which is there for others. */
function usersOf({ kind }: Kind, { metadata }: JsonObject): readonly User[] {
  assert(isObject(metadata) && typeof metadata.name === 'string');
  const ref = { name: metadata.name };
  const incoming = { type: 'inline', inline: { issuer: 'https://login.example.com', audience: 'user' } };
  const server = { image: 'example.com/user:1', transport: 'streamable-http' };
  const remote = { remoteURL: 'https://mcp.example.com', oidcConfig: incoming };
  const virtual = { incomingAuth: { type: 'anonymous' }, config: { groupRef: 'none' } };
  const specs: Readonly<Record<string, readonly (readonly [string, JsonObject])[]>> = {
    MCPToolConfig: [['MCPServer', { ...server, toolConfigRef: ref }]],
    MCPOIDCConfig: [['MCPServer', { ...server, oidcConfigRef: { ...ref, audience: 'user' } }]],
    MCPTelemetryConfig: [['MCPServer', { ...server, telemetryConfigRef: ref }]],
    MCPWebhookConfig: [['MCPServer', { ...server, webhookConfigRef: ref }]],
    MCPAuthzConfig: [['MCPServer', { ...server, authzConfigRef: ref }]],
    MCPServerEntry: [['VirtualMCPServer', { ...virtual, config: { groupRef: 'agents' } }]],
    MCPExternalAuthConfig: [['MCPRemoteProxy', { ...remote, externalAuthConfigRef: ref }]],
    VirtualMCPCompositeToolDefinition: [
      ['VirtualMCPServer', { ...virtual, config: { ...virtual.config, compositeToolRefs: [ref] } }],
    ],
  };
  return (specs[kind] ?? []).map(([name, spec]) => {
    const user = KINDS.find((each) => each.kind === name);
    assert(user !== undefined);
    const place = { name: 'user', namespace: metadata.namespace };
    return {
      kind: user,
      manifest: { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: name, metadata: place, spec },
    };
  });
}

/** Fields of resources of the kind, in the documents around another resource, whose change that one notices. */
function usedAround({ kind, written, around }: Fixture, wanted: Kind): readonly string[] {
  const before = outcome(kind, written, around);
  return around.flatMap((object, index) => {
    if (object.kind !== wanted.kind) return [];
    return placesOf(object.spec, ['spec']).flatMap((place) => {
      const after = changed(wanted, object, place, (other) => {
        return outcome(
          kind,
          written,
          around.map((each, at) => (at === index ? other : each)),
        );
      });
      return after === before?.text ? [] : [`${wanted.kind} ${fieldOf(place)}`];
    });
  });
}

/** What follows from the first other value that is valid; undefined where the place is part of what makes it valid. */
function changed(
  kind: Kind,
  manifest: JsonObject,
  place: Place,
  outcomeOf: (manifest: JsonObject) => { readonly text: string } | undefined,
): string | undefined {
  for (const other of othersThan(place.value, wordsAt(kind, place))) {
    const mutated = withValue(manifest, place.path, other);
    if (isValid(kind, mutated)) return outcomeOf(mutated)?.text;
  }
  return undefined;
}

function isValid(kind: Kind, manifest: JsonObject): boolean {
  const schema = schemas.get(kind);
  assert(schema !== undefined);
  const defaulted = schema.withDefaults(manifest);
  return [...schema.unknownFields(manifest), ...schema.validate(defaulted)].length === 0;
}

/** What a run makes of a valid manifest. */
function outcome(kind: Kind, written: JsonObject, around: readonly JsonObject[]) {
  const schema = schemas.get(kind);
  if (schema === undefined || !isValid(kind, written)) return undefined;
  const view = viewAround(around);
  const resource = schema.withDefaults(written) as unknown as Resource;
  const findings = contentFindings(kind, resource, written, view);
  const refusals = findings.filter(({ severity }) => severity === 'error');
  const made = madeOf(() => kind.children(resource, view, SETTINGS));
  const follows = {
    findings: findings.filter(({ code }) => !MISSING.has(code)),
    made,
    generated: kind.generated(resource, SETTINGS),
    status: kind.status(resource, { view, refusals, failures: [], now: '2026-11-21T12:00:00Z' }),
    demanded: kind.references(resource).map(({ optional }) => optional ?? 'demanded'),
    images: kind.images(resource),
    sources: kind.sources(resource),
    database: kind.database(resource),
    enforces: kind.enforces(resource),
    exposes: kind.exposes(resource, view),
  };
  const warned = findings.filter(({ code }) => code === 'field-without-effect').map(({ pointer }) => pointer);
  return { text: JSON.stringify(follows, withoutDigests), warned };
}

/** Something is named and does not exist: that says nothing about the use of the name. */
const MISSING: ReadonlySet<string> = new Set(['reference-missing', 'reference-key-missing']);

/** Something that is refused may lack what children are made of. */
function madeOf(children: () => readonly object[]): readonly object[] {
  try {
    return children();
  } catch (error) {
    if (error instanceof assert.AssertionError) return [];
    throw error;
  }
}

/** They change with anything in the spec. */
const DIGESTS = /(-checksum|\/config-hash|podtemplatespec-hash)$|^(configHash|[a-z]+[A-Za-z]*ConfigHash)$/;

function withoutDigests(key: string, value: unknown): unknown {
  return DIGESTS.test(key) ? undefined : value;
}

/** The words that the schema lists for the place. */
function wordsAt(kind: Kind, { path: [, ...path] }: Place): readonly Json[] {
  const schema = path.reduce<Json | undefined>((node, key) => {
    if (!isObject(node)) return undefined;
    if (typeof key === 'number') return node.items;
    const { properties, additionalProperties } = node;
    return (isObject(properties) ? properties[key] : undefined) ?? additionalProperties;
  }, kind.schema.spec);
  if (!isObject(schema) || !Array.isArray(schema.enum)) return [];
  // Another spelling of a word has the same effect.
  const spellings = isObject(schema[OLD_WORDS]) ? schema[OLD_WORDS] : {};
  return schema.enum.filter((word) => !Object.hasOwn(spellings, String(word)));
}
