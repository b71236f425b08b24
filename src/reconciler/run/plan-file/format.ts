// Defines the content of a plan file, in this one place: commits, digests and preconditions, no value of any field.

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

/** Files of a later version are refused. */
export const PLAN_FILE_VERSION = 1;

export const SHA256 = { pattern: '^[0-9a-f]{64}$' };

export const RESOURCE = object(
  {
    apiVersion: text('Group and version.', { minLength: 1 }),
    kind: text('Kind.', { minLength: 1 }),
    namespace: optional(text('Namespace; absent where the kind has none.', { minLength: 1 })),
    name: text('Name.', { minLength: 1 }),
  },
  'One object.',
);

const CHANGE = object(
  {
    action: choice('What is done to it.', ['create', 'update', 'delete']),
    resource: RESOURCE,
    uid: optional(text('The object in the cluster must still have this uid. Absent on create.', { minLength: 1 })),
    owner: optional(RESOURCE),
    replaces: optional(bool('The object in the cluster is deleted and created anew.')),
    seen: optional(
      text('Digest of the live values of the fields that skep owns, and of the difference that was shown.', SHA256),
    ),
    desired: optional(text('Digest of what is to be applied. Absent on delete.', SHA256)),
    fields: optional(list(text('Path of a field.'), 'Which fields differ; never their values.')),
  },
  'One change, with what must still be true when it is made.',
);

export const PLANNED_SOURCE = object(
  {
    name: text('Name of the source in skep.yaml.', { minLength: 1 }),
    repository: text('Its URL, without credentials.'),
    ref: text('What was asked for, in words: a branch, tag, range of versions or commit.'),
    commit: text('What it was.', { pattern: '^[0-9a-f]{40}$' }),
  },
  'One source, at one commit.',
);

const DELETION = object({ id: text('namespace/Kind/name.'), uid: text('Its uid.') }, 'One deletion.');

const GUARD = object(
  {
    source: text('Name of the source.'),
    verdict: choice('Approved deletions are part of the plan, those that wait are not.', ['waits', 'approved']),
    hash: text('Names the list.'),
    reasons: list(text('A sentence.'), 'Why it needs an approval.'),
    deletions: list(DELETION, 'The list.'),
  },
  'Deletions of one source that need an approval.',
);

const HELD = object({ resource: RESOURCE, reason: text('Why.') }, 'One object that is kept unchanged.');

export const TOOL = object(
  { name: text('Name and version.'), digest: text('Of the program: code, schemas, dependencies.', SHA256) },
  'What made it.',
);

export const CLUSTER = object(
  { homeNamespace: text('Home namespace of the instance.'), uid: text('Uid of that namespace.') },
  'Which cluster it is about.',
);

export const PLAN_FILE = object(
  {
    format: choice('What this file is.', ['skep-plan']),
    version: integer('Version of this format.', { minimum: PLAN_FILE_VERSION, maximum: PLAN_FILE_VERSION }),
    createdAt: time('When it was made (RFC 3339).'),
    tool: TOOL,
    instance: text('Name of the instance.', { minLength: 1 }),
    cluster: CLUSTER,
    settings: map(text('Digest.', SHA256), 'Digests of the settings that shape a plan, by their name in skep.yaml.'),
    sealed: bool(
      'Whether the digests of Secrets could be made: false before the first run, and without access to the key.',
    ),
    sources: list(PLANNED_SOURCE, 'All sources.', { keys: ['name'] }),
    batches: list(
      object({ name: text('Why these come together.'), changes: list(CHANGE, 'In any order.') }, 'One batch.'),
      'One after the other.',
    ),
    held: list(HELD, 'What nothing declares any more, and stays all the same.'),
    unchanged: integer('How many objects are as they should be.', { minimum: 0 }),
    guard: list(GUARD, 'What the limits on deletions say, where deletions are beyond them.'),
    digest: text('SHA-256 of the canonical JSON of everything else in this file.', SHA256),
  },
  'A plan of skep as a file: exactly what `skep apply` will do, or refuse.',
);

export type PlanFile = Static<typeof PLAN_FILE>;
export type PlannedChange = Static<typeof CHANGE>;
export type PlannedSource = Static<typeof PLANNED_SOURCE>;

/** Returns the published JSON Schema (draft 2020-12). */
export function publishedSchema(schema: TSchema, title: string): JsonObject {
  const plain: JsonObject = JSON.parse(JSON.stringify(schema));
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...strict(plain) };
}

/** Removes the words of CustomResourceDefinitions and of our rules. Fields that are not described are not allowed. */
function strict(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => !key.startsWith('x-'));
  const copy: JsonObject = Object.fromEntries(kept.map(([key, value]) => [key, strictValue(value ?? null)]));
  return isObject(copy.properties) ? { ...copy, additionalProperties: false } : copy;
}

function strictValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(strictValue);
  return isObject(value) ? strict(value) : value;
}
