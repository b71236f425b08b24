// Finds texts in definitions that a reviewer should read with care: texts with invisible characters, or with words that
// read like instructions to a model. A finding does not prove an attack.

import type { Json, JsonObject } from '#std/json.ts';

/**
 * Control characters, characters that change the direction of text, characters without width, and tags (Unicode,
 * general categories Cc and Cf).
 */
const INVISIBLE_IN_NAME = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
/**
 * Invisible characters in texts other than names. U+200C and U+200D are allowed, because scripts and emoji need them.
 * Two successive variation selectors have no effect, and can encode a hidden text.
 */
const INVISIBLE = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}/u;

/**
 * Characters that a reader of the diff does not see: control characters, spaces of unusual widths, and characters
 * without a glyph. Tabs, line feeds, and selectors in an emoji are allowed. Digits are not treated as emoji, although
 * Unicode lists them as parts of emoji.
 */
const NOT_SHOWN =
  /(?![\t\n ]|(?<=\p{Extended_Pictographic})\ufe0f|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d)(?:\p{Cc}|\p{Cf}|\p{Z}|\p{Default_Ignorable_Code_Point}|\u2800)/u;

/** Characters that a lock file escapes in JSON texts. */
export const INVISIBLE_OR_LINE = new RegExp(NOT_SHOWN.source, 'gu');

/** Returns true if a reader of the diff would not see a part of the text. */
export function hasInvisible(text: string): boolean {
  return NOT_SHOWN.test(text);
}

const INSTRUCTIONS: readonly RegExp[] = [
  /<\/?(?:system|important|instructions?|assistant|secret|hidden)\b[^<>]{0,40}>/i,
  /\b(?:ignore|disregard|forget|override)\b[^.]{0,40}\b(?:instructions?|rules|prompts?|messages|polic(?:y|ies))\b/i,
  /\b(?:do not|don't|never|without)\s+(?:tell|mention|inform|show|reveal|notify)(?:ing)?\b[^.]{0,30}\b(?:user|human|anyone|person)\b/i,
  /\byou are now\b|\bnew instructions\b|\bsystem prompt\b/i,
];

/** Returns the reason why a reviewer should read the definition with care; undefined if nothing is found. */
export function doubtfulReason(definition: JsonObject): string | undefined {
  const { name } = definition;
  if (typeof name === 'string' && INVISIBLE_IN_NAME.test(name)) return 'its name has invisible characters';
  for (const text of textsIn(definition)) {
    if (INVISIBLE.test(text)) return 'a text has invisible characters';
    const words = INSTRUCTIONS.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
    if (words !== undefined) return `a text reads like instructions: ${words.replace(/\s+/g, ' ').slice(0, 80)}`;
  }
  return undefined;
}

function* textsIn(definition: JsonObject): Generator<string> {
  const waiting: Json[] = [definition];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string') yield value;
    else if (value !== null && typeof value === 'object')
      for (const each of Object.values(value)) waiting.push(each ?? null);
  }
}
