// Returns explanations for fields of ToolHive that skep refuses on purpose.

import { pointerTokens } from '#std/json.ts';

/** Names that every kind refuses (docs/migrating.md, "Fields that are refused"). */
export const REFUSED_NAMES: readonly string[] = ['codeMode', 'obo'];

const SENTENCE = 'ToolHive has this field. skep refuses it: docs/migrating.md says why.';

/**
 * Returns a sentence about an unknown field; undefined if skep does not refuse the field on purpose. `pointer`: RFC
 * 6901.
 */
export function refusedFieldAdvice(pointer: string): string | undefined {
  const name = pointerTokens(pointer).at(-1) ?? '';
  return REFUSED_NAMES.includes(name) ? SENTENCE : undefined;
}
