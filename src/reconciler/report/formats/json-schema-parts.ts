// Defines parts of the JSON outputs as JSON Schemas: resources, problems, differences, approvals, effects on clients.

import type { JsonObject } from '#std/json.ts';

export const TEXT: JsonObject = { type: 'string' };
export const COUNT: JsonObject = { type: 'integer', minimum: 0 };
export const TIME: JsonObject = { type: 'string', description: 'RFC 3339.' };
const ANY: JsonObject = {};

export function listOf(items: JsonObject, description?: string): JsonObject {
  return { type: 'array', items, description };
}

/** Returns the schema of an object. All fields are required except those in `optional`. */
export function record(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export function counts(...names: readonly string[]): JsonObject {
  return record(Object.fromEntries(names.map((name) => [name, COUNT])));
}

export const RESOURCE = record({ apiVersion: TEXT, kind: TEXT, namespace: TEXT, name: TEXT }, ['namespace']);

export const NOT_READY = record(
  {
    apiVersion: TEXT,
    kind: TEXT,
    namespace: TEXT,
    name: TEXT,
    why: { type: 'string', description: 'The message of its condition Ready.' },
  },
  ['namespace'],
);

export const PROBLEM = record(
  {
    code: { type: 'string', description: 'Explained in docs/errors.md.' },
    severity: { enum: ['error', 'warning'] },
    message: { type: 'string', description: 'For people; not stable.' },
    file: TEXT,
    line: { type: 'integer', minimum: 1 },
    column: { type: 'integer', minimum: 1 },
    pointer: { type: 'string', description: 'JSON pointer into the document (RFC 6901).' },
    resource: RESOURCE,
  },
  ['file', 'line', 'column', 'pointer', 'resource'],
);

export const FAILURE = record({ code: TEXT, message: TEXT, data: { type: 'object' } }, ['data']);
export const HELD = record({ resource: RESOURCE, reason: TEXT });
export const DIFFERENCE = record(
  {
    path: { type: 'string', description: 'Like a JSON pointer; items of keyed lists by their key.' },
    before: { ...ANY, description: 'Absent: nothing is there now.' },
    after: { ...ANY, description: 'Absent: it is removed.' },
  },
  ['before', 'after'],
);

export const PREVIEW: JsonObject = {
  ...record(
    {
      verdict: { enum: ['accepted', 'refused', 'skipped'] },
      code: { type: 'string', description: 'Code of a refusal; explained in docs/errors.md.' },
      message: { type: 'string', description: 'Message of a refusal.' },
      reason: { type: 'string', description: 'Reason why the server got no request, or did not respond.' },
    },
    ['code', 'message', 'reason'],
  ),
  description: 'Decision of the API server about the change before it is made; absent for deletions.',
};

export const EXPLANATION = record(
  {
    resource: RESOURCE,
    what: { enum: ['created', 'updated', 'replaced', 'deleted', 'unchanged', 'held', 'refused'] },
    because: listOf(TEXT, 'The most telling reason first.'),
    declared: record({ source: TEXT, file: TEXT, line: COUNT, column: COUNT }),
    owner: RESOURCE,
  },
  ['declared', 'owner'],
);

export const COMMITS: JsonObject = {
  type: 'object',
  additionalProperties: TEXT,
  description: 'Commit by name of the source.',
};
export const COMMIT: JsonObject = {
  type: ['string', 'null'],
  description: 'The commit if the run has read exactly one source, else null.',
};
const REPLACED: JsonObject = { const: true, description: 'It is created again.' };
const TAKES = listOf(TEXT, 'Content that is deleted with it and does not belong to this instance.');
const MAY_TAKE = listOf(TEXT, 'Kinds that may not be listed: their objects are deleted with it.');
const OWNER_ID = { ...TEXT, description: 'Custom resource that it was created for, if that one is deleted, too.' };
export const APPROVALS = listOf(
  record(
    {
      source: TEXT,
      hash: TEXT,
      reasons: listOf(TEXT),
      deletions: listOf(
        record(
          { id: TEXT, kind: TEXT, uid: TEXT, owner: OWNER_ID, replaced: REPLACED, takes: TAKES, mayTake: MAY_TAKE },
          ['owner', 'replaced', 'takes', 'mayTake'],
        ),
      ),
      expiredAt: TIME,
    },
    ['expiredAt'],
  ),
  'Deletions that wait for approval: a list for each source.',
);
export const APPROVED = listOf(
  record({ source: TEXT, hash: TEXT, expiresAt: TIME }),
  'The approvals that let deletions go that would wait otherwise.',
);
export const QUARANTINED = listOf(
  record({ source: TEXT, good: TEXT, bad: TEXT, run: TEXT, since: TIME }),
  'Sources that a rollback keeps at the commit `good`.',
);
export const WAITS = listOf(
  record({ source: TEXT, for: TEXT, reason: TEXT }),
  'Sources that are kept unchanged until the source `for` is applied and ready (`sources[].dependsOn`).',
);
export const PAUSED: JsonObject = {
  description: 'Why runs write nothing now: the instance is suspended, or its sync windows are closed.',
  oneOf: [
    record({ by: { const: 'window' }, window: TEXT, until: TIME }, ['until']),
    record({ by: { const: 'suspension' }, who: TEXT, since: TEXT, reason: TEXT }),
  ],
};
const NAMES = listOf(TEXT);
const ACTION: JsonObject = { enum: ['appears', 'disappears', 'changes'] };

function both(value: JsonObject): JsonObject {
  return record({ before: value, after: value });
}

const AUTH = record({ type: { enum: ['anonymous', 'oidc', 'unknown'] }, issuer: TEXT, audience: TEXT, account: TEXT }, [
  'issuer',
  'audience',
  'account',
]);
const TOOLS: JsonObject = {
  ...record({
    appear: NAMES,
    disappear: NAMES,
    renamed: listOf(both(TEXT)),
    clashes: listOf(TEXT, 'Names of several members, without a rule that distinguishes them.'),
    uncertain: { type: 'boolean', description: 'True if not all tools are known.' },
  }),
  description: 'Names as clients see them; `*`: all tools of a server that no known registry lists.',
};
export const IMPACT: JsonObject = {
  ...record({
    endpoints: listOf(
      record(
        {
          resource: RESOURCE,
          action: ACTION,
          url: TEXT,
          moved: both(TEXT),
          transport: both(TEXT),
          auth: record({ before: AUTH, after: AUTH, refusesToday: { type: 'boolean' } }),
          optimizer: { enum: ['on', 'off'] },
          tools: TOOLS,
        },
        ['moved', 'transport', 'auth', 'optimizer'],
      ),
    ),
    registries: listOf(
      record({
        resource: RESOURCE,
        source: TEXT,
        action: ACTION,
        appear: NAMES,
        disappear: NAMES,
        renamed: listOf(both(TEXT)),
        unknown: listOf({ enum: ['source', 'filter'] }, 'Changed parts of a source whose entries are not known here.'),
      }),
    ),
    definitions: listOf(
      record({
        resource: RESOURCE,
        list: { enum: ['tools', 'prompts', 'resourceTemplates'] },
        changed: NAMES,
        added: NAMES,
        removed: NAMES,
      }),
      'Reviewed definitions of locked servers that change.',
    ),
    restarts: listOf(record({ resource: RESOURCE, owner: RESOURCE }, ['owner']), 'Workloads whose pods are replaced.'),
  }),
  description: 'Changes that clients would notice.',
};
export const AGAINST: JsonObject = {
  ...record({
    createdAt: TIME,
    commits: COMMITS,
    unknown: listOf(TEXT, 'Facts that cannot be known, one sentence each.'),
  }),
  description: 'Present in a plan against a snapshot: `skep plan --against`.',
};
const RENDERED_COMMIT = record({
  name: { type: 'string', description: 'The branch, tag or commit that was requested.' },
  commit: { type: 'string', description: 'Commit id. The base is the commit in which the two histories meet.' },
});
export const RENDERED: JsonObject = {
  ...record({
    paths: listOf(TEXT, 'Folders inside the repository; the empty text is all of it.'),
    base: RENDERED_COMMIT,
    head: RENDERED_COMMIT,
    earlierProblems: {
      ...COUNT,
      description: 'Problems of unchanged objects that the base has as well. They are not listed.',
    },
    unknown: listOf(TEXT, 'Facts that cannot be known, one sentence each.'),
  }),
  description: 'The two commits that `skep plan --render` has compared.',
};
const FIELD = record({
  resource: RESOURCE,
  path: {
    type: 'string',
    description: 'Path in the form of a diff; the path of an undeclared field, if that one blocks a declared one.',
  },
  manager: { type: 'string', description: 'The field manager that has set it.' },
  state: {
    enum: ['set-back', 'kept', 'left'],
    description:
      "set-back: Git's value is applied. kept: it stays and differs. left: it stays, as skep.dev/ignore-fields says.",
  },
});
export const FIELDS = listOf(FIELD, 'Declared fields that others have set to other values.');
export const TROUBLE = { problems: listOf(PROBLEM), failures: listOf(FAILURE) };
