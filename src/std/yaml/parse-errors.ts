// Explains errors of the YAML parser in authors' terms, with the remedy.

import type { YAMLParseError } from 'yaml';

/** The message for a stack overflow of the recursive parser. */
export const TOO_DEEP = 'The document is nested too deeply to be read.';

const COLUMN =
  'This line begins in another column than the lines above: all fields of a mapping, and all items of a list, begin in the same column.';

/** Beginnings of the parser's messages, each with the sentence that replaces the message. */
const SENTENCES: readonly (readonly [string, string])[] = [
  ['All mapping items must start at the same column', COLUMN],
  ['All sequence items must start at the same column', COLUMN],
  ['A block sequence may not be used as an implicit map key', COLUMN],
  [
    'Nested mappings are not allowed in compact mappings',
    'This value needs quotes if it is a text with ": ". If the line below is another field, begin it in the column of this one.',
  ],
  [
    'Implicit keys need to be on a single line',
    'A field name ends on another line than it begins: a ":" is missing after a field name, or a line is indented too little.',
  ],
  [
    'Implicit map keys need to be followed by map values',
    'This line is not "name: value": the colon is missing, or the space after it.',
  ],
  ['Missing closing "quote', 'The text in double quotes does not end: a closing " is missing.'],
  ["Missing closing 'quote", "The text in single quotes does not end: a closing ' is missing."],
  [
    'Invalid escape sequence',
    'In double quotes a \\ begins an escape: write \\\\ if you mean a backslash, or use single quotes.',
  ],
  ['Missing , ', 'A comma is missing between two entries in brackets.'],
];

const UNCLOSED = /^Flow (?:map|sequence) .*end with a ([\]}])$/;
const RESERVED = /^Plain value cannot start with .* ([,%|>@`])$/;

const SECOND_VALUE = /^Unexpected .* at node end$/;

export function explainParseError({ code, message }: YAMLParseError): string {
  if (code === 'RESOURCE_EXHAUSTION') return TOO_DEEP;
  const [, closing] = UNCLOSED.exec(message) ?? [];
  if (closing !== undefined)
    return `A ${closing === ']' ? '[' : '{'} above is not closed before this place: write the missing ${closing}.`;
  const [, first] = RESERVED.exec(message) ?? [];
  if (first !== undefined) return `A text needs quotes if it begins with ${first}.`;
  if (SECOND_VALUE.test(message)) return 'A comma, a line break or a quote is missing before this place.';
  const [, sentence = message] = SENTENCES.find(([start]) => message.startsWith(start)) ?? [];
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
