// Computes the digest of a definition, which does not depend on the order of keys, on spaces, or on notations of
// numbers and texts. Texts are compared by code points, so letters that only look equal result in different digests.

import { hash } from 'node:crypto';
import { canonicalJson, isObject, type Json, type JsonObject, parseJson } from '#std/json.ts';

/** Returns the SHA-256 of the canonical JSON, in base64url. */
export function definitionDigest(definition: JsonObject): string {
  return hash('sha256', canonicalJson(definition), 'base64url');
}

/**
 * Returns the digests that a definition can have when clients receive it. Up to MCP 2025-11-25, an `outputSchema` must
 * describe an object. skep removes other schemas for clients with sessions.
 */
export function acceptedDigests(definition: JsonObject): readonly string[] {
  const { outputSchema, ...rest } = definition;
  const isLeftOut = outputSchema !== undefined && !(isObject(outputSchema) && outputSchema.type === 'object');
  return isLeftOut ? [definitionDigest(definition), definitionDigest(rest)] : [definitionDigest(definition)];
}

/**
 * Maximum number of characters of a number. A model would read all digits of a longer number, but the digest of the
 * definition contains only the digits of a double.
 */
const NUMBER_MAX = 40;

/**
 * Parses a definition from bytes that are valid JSON. Returns undefined if two parsers could read it differently:
 * because of a repeated key, an unpaired surrogate, or a number that a double cannot contain.
 */
export function readDefinition(bytes: Buffer): JsonObject | undefined {
  const text = bytes.toString('utf8');
  const members = countMembers(text);
  const value = members === undefined ? undefined : parseJson(text);
  if (!isObject(value)) return undefined;
  const seen = { members: 0, isExact: true };
  look(value, seen);
  return seen.isExact && seen.members === members ? value : undefined;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];

/**
 * Counts the members of all objects: each member has one colon outside of texts. Returns undefined if a number is too
 * long.
 */
function countMembers(text: string): number | undefined {
  let members = 0;
  let digits = 0;
  for (let pos = 0; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code === QUOTE) {
      pos = endOfText(text, pos);
      digits = 0;
    } else if (isNumberPart(code)) {
      digits += 1;
      if (digits > NUMBER_MAX) return undefined;
    } else {
      if (code === COLON) members += 1;
      digits = 0;
    }
  }
  return members;
}

function endOfText(text: string, open: number): number {
  for (let pos = open + 1; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code === QUOTE) return pos;
    if (code === BACKSLASH) pos += 1;
  }
  return text.length;
}

/** Returns true for digits, signs, points and the letter of an exponent. */
function isNumberPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65;
}

/** Counts the members of a value. A text with repeated keys has more members than its value. */
function look(value: Json, seen: { members: number; isExact: boolean }): void {
  if (typeof value === 'string') seen.isExact &&= value.isWellFormed();
  else if (typeof value === 'number') seen.isExact &&= Number.isFinite(value);
  else if (Array.isArray(value)) for (const each of value) look(each, seen);
  else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      seen.members += 1;
      seen.isExact &&= key.isWellFormed();
      look(value[key] ?? null, seen);
    }
  }
}
