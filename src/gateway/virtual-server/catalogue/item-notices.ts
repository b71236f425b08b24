// Finds list items of a member that would make clients refuse the lists of all members.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { ListName } from './list-names.ts';

export interface ItemNotice {
  readonly list: ListName;
  /** The member's name of the item. */
  readonly name: string;
  /**
   * `left-out`: clients do not get the item, or do not get the part that `why` names. `doubtful`: clients get the item
   * unchanged. `held-back`: the item differs from the reviewed definition, and clients do not get it. `drifted`: the
   * item differs from the reviewed definition, but clients get it.
   */
  readonly what: 'left-out' | 'doubtful' | 'held-back' | 'drifted';
  readonly why: string;
}

/** Rule for one optional JSON member. */
interface MemberRule {
  readonly is: string;
  readonly fits: (value: Json) => boolean;
}
type Shape = Readonly<Record<string, MemberRule>>;

const TEXT: MemberRule = { is: 'a text', fits: (value) => typeof value === 'string' };
const BOOLEAN: MemberRule = { is: 'true or false', fits: (value) => typeof value === 'boolean' };
const OBJECT: MemberRule = { is: 'an object', fits: isObject };
const TEXTS: MemberRule = { is: 'a list of texts', fits: (value) => Array.isArray(value) && value.every(TEXT.fits) };
/** Official clients refuse times without a time zone. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

const ICON: Shape = { mimeType: TEXT, sizes: TEXTS, theme: oneOf('light', 'dark') };
const ICONS: MemberRule = {
  is: 'a list of icons, each with a src',
  fits: (value) =>
    Array.isArray(value) && value.every((each) => hasText(each, 'src') && misfit(each, ICON) === undefined),
};
const ITEM: Shape = { title: TEXT, description: TEXT, annotations: OBJECT, _meta: OBJECT, icons: ICONS };

const HINTS: Shape = {
  title: TEXT,
  readOnlyHint: BOOLEAN,
  destructiveHint: BOOLEAN,
  idempotentHint: BOOLEAN,
  openWorldHint: BOOLEAN,
};
const ANNOTATIONS: Shape = {
  audience: {
    is: 'a list of user and assistant',
    fits: (value) => Array.isArray(value) && value.every(oneOf('user', 'assistant').fits),
  },
  priority: {
    is: 'a number from 0 to 1',
    fits: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  },
  lastModified: {
    is: 'a time with its zone (RFC 3339)',
    fits: (value) => typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value)),
  },
};
const RESOURCE: Shape = { mimeType: TEXT, size: { is: 'a number', fits: (value) => typeof value === 'number' } };
const ARGUMENT: Shape = { description: TEXT, required: BOOLEAN };

/**
 * Returns why clients would refuse the whole list because of this item, or undefined if the item is valid. Clients
 * validate lists by the schema of the protocol (MCP 2025-11-25, schema.ts: Tool, Prompt, Resource, ResourceTemplate).
 */
export function unreadableReason(list: ListName, item: JsonObject): string | undefined {
  if (list === 'skills') return skillFault(item);
  if (!hasText(item, 'name')) return 'name must be a text';
  const { annotations = {}, arguments: given = [], execution = {} } = item;
  const fault = misfit(item, ITEM);
  if (fault !== undefined) return fault;
  switch (list) {
    case 'tools':
      return (
        misfit(annotations, HINTS, 'annotations.') ??
        misfit(execution, { taskSupport: oneOf('required', 'optional', 'forbidden') }, 'execution.') ??
        objectSchemaFault('inputSchema', item.inputSchema)
      );
    case 'prompts':
      return Array.isArray(given) &&
        given.every((each) => hasText(each, 'name') && misfit(each, ARGUMENT) === undefined)
        ? undefined
        : 'arguments must be a list of objects with names';
    default:
      return misfit(item, RESOURCE) ?? misfit(annotations, ANNOTATIONS, 'annotations.');
  }
}

/** Checks an entry of `skills/list`. SEP-2640 requires the frontmatter, and either the skill's files or `dynamic`. */
function skillFault({ frontmatter = null, resources }: JsonObject): string | undefined {
  if (!hasText(frontmatter, 'name') || !hasText(frontmatter, 'description'))
    return 'frontmatter must be an object with name and description';
  const areFiles = Array.isArray(resources) && resources.every((each) => hasText(each, 'uri'));
  return areFiles || resources === 'dynamic' ? undefined : 'resources must be a list of objects with a uri, or dynamic';
}

function oneOf(...words: readonly string[]): MemberRule {
  return { is: `one of ${words.join(', ')}`, fits: (value) => typeof value === 'string' && words.includes(value) };
}

function hasText(value: Json, key: string): boolean {
  return isObject(value) && typeof value[key] === 'string';
}

function misfit(value: Json, shape: Shape, where = ''): string | undefined {
  if (!isObject(value)) return `${where.slice(0, -1)} must be an object`;
  for (const [key, { is, fits }] of Object.entries(shape)) {
    const member = value[key];
    if (member !== undefined && !fits(member)) return `${where}${key} must be ${is}`;
  }
  return undefined;
}

/** Checks the top level of a schema, as official clients do before they compile it. */
export function objectSchemaFault(name: string, schema: Json | undefined): string | undefined {
  if (!isObject(schema) || schema.type !== 'object') return `${name} must be an object with type: object`;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Object.values(properties).every((each) => each !== null && typeof each === 'object')) {
    return `${name}.properties must be an object of objects`;
  }
  return TEXTS.fits(required) ? undefined : `${name}.required must be a list of texts`;
}
