// Explains the fields of ToolHive that skep refuses on purpose, which are not misspelled fields.

import { pointerTokens } from '#std/json.ts';

/** Fields of all kinds (docs/migrating.md, "Fields that are refused"). */
export const REFUSED_NAMES: readonly string[] = ['codeMode', 'obo'];

const SENTENCE = 'ToolHive has this field. skep refuses it: docs/migrating.md says why.';

/** Returns a sentence about an unknown field; undefined if skep does not refuse it on purpose. `pointer`: RFC 6901. */
export function refusedFieldAdvice(pointer: string): string | undefined {
  const name = pointerTokens(pointer).at(-1) ?? '';
  return REFUSED_NAMES.includes(name) ? SENTENCE : undefined;
}
