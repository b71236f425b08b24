// Defines the schemas of ToolHive's servers and of the official server.json. The schemas check only fields that the
// catalogue uses. Lengths and patterns of prose are not checked, because existing feeds exceed the official limits.
// Unknown members are kept.

import type { ErrorObject } from 'ajv';
import { schemaCheck } from '#contracts/schema-check.ts';
import type { JsonObject } from '#std/json.ts';
import { type Static, type TSchema, Type } from '#std/json-schema.ts';
import type { Mistake } from './document.ts';

const Text = Type.String({ minLength: 1 });
const Texts = Type.Array(Text);
const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
const Extra = Type.Unsafe<JsonObject>({ type: 'object' });
const ExtraOrNull = Type.Unsafe<JsonObject | null>({ type: ['object', 'null'] });
const HttpUrl = Type.String({ pattern: '^https?://\\S+$', description: 'an http:// or https:// URL' });

const Input = Type.Object({
  name: Text,
  description: Type.Optional(Type.String()),
  required: Type.Optional(Type.Boolean()),
  secret: Type.Optional(Type.Boolean()),
  default: Type.Optional(Type.String()),
  choices: Type.Optional(Texts),
});

const common = {
  name: Type.Optional(Text),
  title: Type.Optional(Text),
  description: Text,
  status: Type.Optional(Type.Enum(['Active', 'Deprecated', 'active', 'deprecated'])),
  tier: Type.Optional(Type.Enum(['Official', 'Community'])),
  tools: Type.Optional(Texts),
  tool_definitions: Type.Optional(Type.Array(Extra)),
  tags: Type.Optional(Texts),
  repository_url: Type.Optional(Text),
  env_vars: Type.Optional(Type.Array(Input)),
  metadata: Type.Optional(Extra),
  custom_metadata: Type.Optional(Extra),
} as const;

/** `servers.<key>`: a server in a container. */
const ToolhiveContainer = Type.Object({
  ...common,
  image: Text,
  transport: Type.Optional(Type.Enum(['stdio', 'sse', 'streamable-http'])),
  target_port: Type.Optional(Port),
  proxy_port: Type.Optional(Port),
  args: Type.Optional(Texts),
  docker_tags: Type.Optional(Texts),
  permissions: Type.Optional(Extra),
  provenance: Type.Optional(Extra),
});
export type ToolhiveContainer = Static<typeof ToolhiveContainer>;

/** `remote_servers.<key>`: a server with a URL. */
const ToolhiveRemote = Type.Object({
  ...common,
  url: HttpUrl,
  transport: Type.Enum(['sse', 'streamable-http']),
  headers: Type.Optional(Type.Array(Input)),
  oauth_config: Type.Optional(Extra),
});
export type ToolhiveRemote = Static<typeof ToolhiveRemote>;

/** An element of `groups`. */
const ToolhiveGroup = Type.Object({
  name: Text,
  description: Type.Optional(Type.String()),
  servers: Type.Optional(ExtraOrNull),
  remote_servers: Type.Optional(ExtraOrNull),
});
export type ToolhiveGroup = Static<typeof ToolhiveGroup>;

const Transport = Type.Object({
  type: Type.Enum(['stdio', 'streamable-http', 'sse']),
  url: Type.Optional(Type.String()),
});

const Remote = Type.Object({
  type: Type.Enum(['streamable-http', 'sse']),
  // The draft schema permits a URL that begins with a variable.
  url: Type.String({ pattern: '^(https?://|\\{)\\S+$', description: 'an http:// or https:// URL' }),
});

/** The official server.json, without fields that only clients use. */
const ServerJson = Type.Object({
  // The pattern of the official schema. A stricter pattern would refuse existing names.
  name: Type.String({
    pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$',
    minLength: 3,
    maxLength: 200,
    description: 'a reverse-DNS namespace, one "/" and a name, of letters, digits, ".", "-" and, after the "/", "_"',
  }),
  title: Type.Optional(Text),
  description: Text,
  // `latest` has a meaning in the API, and a version with blanks cannot be part of a path.
  version: Type.String({
    pattern: '^(?!latest$)\\S+$',
    maxLength: 255,
    description: 'a version without blanks other than "latest"',
  }),
  repository: Type.Optional(Extra),
  packages: Type.Optional(
    Type.Array(
      Type.Object({
        registryType: Text,
        identifier: Text,
        version: Type.Optional(Type.String()),
        transport: Transport,
      }),
    ),
  ),
  remotes: Type.Optional(Type.Array(Remote)),
  _meta: Type.Optional(Extra),
});
export type ServerJson = Static<typeof ServerJson>;

/** Fields that an official registry adds to a server.json in its responses. */
const OfficialMeta = Type.Object({
  status: Type.Optional(Type.Enum(['active', 'deprecated', 'deleted'])),
  statusMessage: Type.Optional(Type.String({ maxLength: 500 })),
  statusChangedAt: Type.Optional(Type.String()),
  publishedAt: Type.Optional(Type.String()),
  isLatest: Type.Optional(Type.Boolean()),
});
export type OfficialMeta = Static<typeof OfficialMeta>;

export const checkContainer = checker<ToolhiveContainer>(ToolhiveContainer);
export const checkRemote = checker<ToolhiveRemote>(ToolhiveRemote);
export const checkGroup = checker<ToolhiveGroup>(ToolhiveGroup);
export const checkServerJson = checker<ServerJson>(ServerJson);
export const checkOfficialMeta = checker<OfficialMeta>(OfficialMeta);

export type SchemaResult<T> = { readonly value: T } | { readonly mistakes: readonly Mistake[] };

function checker<T>(schema: TSchema): (value: unknown) => SchemaResult<T> {
  const check = schemaCheck<T>(schema);
  return (value) => {
    const validate = check();
    if (validate(value)) return { value };
    return { mistakes: (validate.errors ?? []).filter(isTelling).map(mistakeOf) };
  };
}

/** Returns false for the summary of a union: its branches report the useful errors. */
function isTelling(error: ErrorObject): boolean {
  return error.keyword !== 'anyOf';
}

function mistakeOf(error: ErrorObject): Mistake {
  const pointer = error.instancePath;
  switch (error.keyword) {
    case 'required':
      return { pointer, message: `must have a member "${error.params.missingProperty}"` };
    case 'enum':
      return { pointer, message: `must be one of ${[error.params.allowedValues].flat().join(', ')}` };
    case 'pattern':
      return { pointer, message: `must be ${error.parentSchema?.description ?? 'well-formed'}` };
    case 'minLength':
      return { pointer, message: 'must not be empty' };
    default:
      return { pointer, message: error.message ?? 'is not valid' };
  }
}
