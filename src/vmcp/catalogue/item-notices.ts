// What is wrong with single items of a member's lists: those that would make clients refuse the lists of all members, and
// texts that may mean to mislead a model or a person. Pure. Knows nothing about how lists are read and where notices go.

import { isObject, type Json, type JsonObject } from '../../std/json.ts';
import type { ListName } from './list-names.ts';

export interface ItemNotice {
  readonly list: ListName;
  /** As the member calls it. */
  readonly name: string;
  /** Left out: clients do not see it. Doubtful: it is passed as it is. */
  readonly what: 'left-out' | 'doubtful';
  readonly why: string;
}

/**
 * Why clients would refuse the whole list because of this item; undefined where they do not. What they hold a list against
 * is the schema of the protocol (2025-11-25, schema.ts: Tool, Prompt, Resource, ResourceTemplate).
 */
export function unreadableReason(list: ListName, item: JsonObject): string | undefined {
  if (typeof item.name !== 'string') return 'name must be a text';
  for (const key of ['title', 'description'] as const) {
    if (item[key] !== undefined && typeof item[key] !== 'string') return `${key} must be a text`;
  }
  for (const key of ['annotations', '_meta'] as const) {
    if (item[key] !== undefined && !isObject(item[key])) return `${key} must be an object`;
  }
  if (list === 'tools') return schemaFault(item.inputSchema);
  if (list === 'prompts' && !isListOf(item.arguments, isNamed)) return 'arguments must be a list of objects with names';
  return undefined;
}

function schemaFault(schema: Json | undefined): string | undefined {
  if (!isObject(schema) || schema.type !== 'object') return 'inputSchema must be an object with type: object';
  const { properties = {}, required } = schema;
  if (!isObject(properties) || !Object.values(properties).every((each) => each !== null && typeof each === 'object')) {
    return 'inputSchema.properties must be an object of objects';
  }
  if (!isListOf(required, (each) => typeof each === 'string')) return 'inputSchema.required must be a list of texts';
  return undefined;
}

function isListOf(value: Json | undefined, fits: (each: Json) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.every(fits));
}

function isNamed(value: Json): boolean {
  return isObject(value) && typeof value.name === 'string';
}

/** Why somebody should look at what the item says; undefined where nothing is found. It proves nothing either way. */
export function doubtfulReason(item: JsonObject): string | undefined {
  const { name } = item;
  if (typeof name === 'string' && UNSEEN_IN_NAME.test(name)) return 'its name has characters that are not seen';
  for (const text of textsIn(item)) {
    if (UNSEEN.test(text)) return 'a text has characters that are not seen';
    const words = INSTRUCTIONS.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
    if (words !== undefined) return `a text reads like instructions: ${words.replace(/\s+/g, ' ').slice(0, 80)}`;
  }
  return undefined;
}

/** Controls, what turns text round, what has no width, and tags (Unicode, general categories Cc and Cf). */
const UNSEEN_IN_NAME = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
/** Signs in texts may be joined of several by U+200C and U+200D. */
const UNSEEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}]/u;

const INSTRUCTIONS: readonly RegExp[] = [
  /<\/?(?:system|important|instructions?|assistant|secret|hidden)\b[^<>]{0,40}>/i,
  /\b(?:ignore|disregard|forget|override)\b[^.]{0,40}\b(?:instructions?|rules|prompts?|messages|polic(?:y|ies))\b/i,
  /\b(?:do not|don't|never|without)\s+(?:tell|mention|inform|show|reveal|notify)(?:ing)?\b[^.]{0,30}\b(?:user|human|anyone|person)\b/i,
  /\byou are now\b|\bnew instructions\b|\bsystem prompt\b/i,
];

function* textsIn(item: JsonObject): Generator<string> {
  const waiting: Json[] = [item];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string') yield value;
    else if (value !== null && typeof value === 'object')
      for (const each of Object.values(value)) waiting.push(each ?? null);
  }
}
