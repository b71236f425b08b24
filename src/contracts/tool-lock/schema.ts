// Defines ToolLock, the file with the reviewed tools, prompts and resource templates of an MCP server. skep reads this
// object, and never applies it.

import type { JsonObject } from '#std/json.ts';
import { Type } from '#std/json-schema.ts';
import { anyObject, choice, list, object, optional, type Static, text } from '#std/schema.ts';

export const TOOL_LOCK = { apiVersion: 'skep.dev/v1', kind: 'ToolLock' } as const;

/** Annotation that chooses the mode of a server's tools lock. */
export const TOOLS_LOCK_ANNOTATION = 'skep.dev/tools-lock';

/** Kinds of servers that can have a lock. */
export const LOCKED_KINDS = ['MCPServer', 'MCPRemoteProxy', 'MCPServerEntry'] as const;

/**
 * Returns the schema of a definition, which may have any members. `key`: member that identifies the definition in its
 * list.
 */
function definition(key: 'name' | 'uriTemplate', description: string) {
  return Type.Unsafe<JsonObject>({
    ...anyObject(description),
    required: [key],
    properties: { [key]: text('The same as the server sends.', { minLength: 1, maxLength: 4096 }) },
  });
}

const Locked = object(
  {
    kind: choice('Kind of the resource, which has the name and the namespace of the lock.', LOCKED_KINDS),
    image: optional(text('Image that offered the definitions.', { minLength: 1 })),
    digest: optional(
      text('Digest of the image that offered the definitions, if it was known.', { pattern: '^sha256:[0-9a-f]{64}$' }),
    ),
    url: optional(text('URL of the remote server that offered the definitions.', { minLength: 1 })),
  },
  'Server that offered the definitions.',
);

const ToolLockSpec = object(
  {
    server: Locked,
    tools: list(definition('name', 'A reviewed tool.'), 'All tools of the server that were reviewed.', {
      maxItems: 20_000,
    }),
    prompts: optional(
      list(
        definition('name', 'A reviewed prompt.'),
        'All prompts that were reviewed. Absent: prompts are not locked.',
        {
          maxItems: 20_000,
        },
      ),
    ),
    resourceTemplates: optional(
      list(
        definition('uriTemplate', 'A reviewed template.'),
        'All resource templates that were reviewed. Absent: resource templates are not locked.',
        { maxItems: 20_000 },
      ),
    ),
  },
  'Definitions that were reviewed.',
);

export type ToolLock = Static<typeof ToolLockSpec>;

/** Lists of a lock, each with the member that identifies its definitions. */
export const LOCKED_LISTS = { tools: 'name', prompts: 'name', resourceTemplates: 'uriTemplate' } as const;

/** Returns whether the object is a ToolLock. */
export function isToolLock({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return apiVersion === TOOL_LOCK.apiVersion && kind === TOOL_LOCK.kind;
}

export type LockedList = keyof typeof LOCKED_LISTS;

export const LOCKED_LIST_NAMES: readonly LockedList[] = ['tools', 'prompts', 'resourceTemplates'];

/** Returns the name of a definition in its list; undefined if the definition has no name. */
export function definitionName(list: LockedList, definition: JsonObject): string | undefined {
  const name = definition[LOCKED_LISTS[list]];
  return typeof name === 'string' ? name : undefined;
}

function plainSchema(schema: unknown): JsonObject {
  return schema as JsonObject;
}

/** Schema of the whole object, in the form of schemas of custom resources. */
export const TOOL_LOCK_SCHEMA: JsonObject = {
  description:
    'Tools, prompts and resource templates of one MCP server that were reviewed. skep reads it and never applies it.',
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string', description: `Always ${TOOL_LOCK.apiVersion}.` },
    kind: { type: 'string', description: `Always ${TOOL_LOCK.kind}.` },
    metadata: { type: 'object' },
    spec: plainSchema(ToolLockSpec),
  },
};
