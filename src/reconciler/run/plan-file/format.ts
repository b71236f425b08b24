// Defines the content of a plan file: commits, digests and preconditions, but no values of fields.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import {
  bool,
  choice,
  integer,
  list,
  map,
  object,
  optional,
  type Static,
  type TSchema,
  text,
  time,
} from '#std/schema.ts';

/** Version of the format. Files of any other version are refused. */
export const PLAN_FILE_VERSION = 1;

export const SHA256 = { pattern: '^[0-9a-f]{64}$' };

export const RESOURCE = object(
  {
    apiVersion: text('Group and version.', { minLength: 1 }),
    kind: text('Kind.', { minLength: 1 }),
    namespace: optional(text('Namespace; absent if the kind has none.', { minLength: 1 })),
    name: text('Name.', { minLength: 1 }),
  },
  'An object.',
);

const CHANGE = object(
  {
    action: choice('Action on the object.', ['create', 'update', 'delete']),
    resource: RESOURCE,
    uid: optional(text('The object in the cluster must still have this uid. Absent on create.', { minLength: 1 })),
    owner: optional(RESOURCE),
    replaces: optional(bool('The object in the cluster is deleted and created again.')),
    seen: optional(
      text('Digest of the live values of the fields that skep owns, and of the difference that was shown.', SHA256),
    ),
    desired: optional(text('Digest of the object to be applied. Absent on delete.', SHA256)),
    fields: optional(list(text('Path of a field.'), 'Fields that differ; never their values.')),
  },
  'A change, with the conditions that must still hold when it is made.',
);

export const PLANNED_SOURCE = object(
  {
    name: text('Name of the source in skep.yaml.', { minLength: 1 }),
    repository: text('Its URL, without credentials.'),
    ref: text('Requested version in words: a branch, tag, range of versions or commit.'),
    commit: text('Commit of that version.', { pattern: '^[0-9a-f]{40}$' }),
  },
  'A source, at one commit.',
);

const DELETION = object({ id: text('namespace/Kind/name.'), uid: text('Its uid.') }, 'Deletion of an object.');

const GUARD = object(
  {
    source: text('Name of the source.'),
    verdict: choice('Approved deletions are part of the plan, waiting ones are not.', ['waits', 'approved']),
    hash: text('Identifies the list.'),
    reasons: list(text('A sentence.'), 'Reasons why it needs an approval.'),
    deletions: list(DELETION, 'The list.'),
  },
  'Deletions of one source that need an approval.',
);

const HELD = object({ resource: RESOURCE, reason: text('Why.') }, 'An object that is kept unchanged.');

export const TOOL = object(
  { name: text('Name and version.'), digest: text('Digest of the program: code, schemas, dependencies.', SHA256) },
  'Program that made the file.',
);

export const CLUSTER = object(
  { homeNamespace: text('Home namespace of the instance.'), uid: text('Uid of that namespace.') },
  'Cluster of the instance.',
);

export const PLAN_FILE = object(
  {
    format: choice('Type of this file.', ['skep-plan']),
    version: integer('Version of this format.', { minimum: PLAN_FILE_VERSION, maximum: PLAN_FILE_VERSION }),
    createdAt: time('Time at which it was made (RFC 3339).'),
    tool: TOOL,
    instance: text('Name of the instance.', { minLength: 1 }),
    cluster: CLUSTER,
    settings: map(text('Digest.', SHA256), 'Digests of the settings that shape a plan, by their name in skep.yaml.'),
    sealed: bool(
      'Whether the digests of Secrets could be computed: false before the first run, and without access to the key.',
    ),
    sources: list(PLANNED_SOURCE, 'All sources.', { keys: ['name'] }),
    batches: list(
      object(
        { name: text('Reason why these come together.'), changes: list(CHANGE, 'Changes in any order.') },
        'Batch of changes.',
      ),
      'Batches, one after the other.',
    ),
    held: list(HELD, 'Objects that nothing declares any more, and that stay all the same.'),
    unchanged: integer('Number of objects that are as they should be.', { minimum: 0 }),
    guard: list(GUARD, 'Lists of deletions beyond the limits.'),
    digest: text('SHA-256 of the canonical JSON of everything else in this file.', SHA256),
  },
  'A plan of skep as a file: `skep apply` makes exactly its changes, or refuses them.',
);

export type PlanFile = Static<typeof PLAN_FILE>;
export type PlannedChange = Static<typeof CHANGE>;
export type PlannedSource = Static<typeof PLANNED_SOURCE>;

/** Returns the JSON Schema to publish (draft 2020-12). */
export function publishedSchema(schema: TSchema, title: string): JsonObject {
  const plain: JsonObject = JSON.parse(JSON.stringify(schema));
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...strict(plain) };
}

/** Removes keywords that only CustomResourceDefinitions or our own rules use, and forbids unknown fields. */
function strict(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => !key.startsWith('x-'));
  const copy: JsonObject = Object.fromEntries(kept.map(([key, value]) => [key, strictValue(value ?? null)]));
  return isObject(copy.properties) ? { ...copy, additionalProperties: false } : copy;
}

function strictValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(strictValue);
  return isObject(value) ? strict(value) : value;
}
