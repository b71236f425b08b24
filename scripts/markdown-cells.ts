// Cells of Markdown tables about fields.

import type { FieldLimits } from '#reconciler/kinds/fields.ts';

export function limits({ choices, oldWords, sizes, pattern, each }: FieldLimits): string {
  return [
    choices.map(code).join(', '),
    ...oldWords.map(({ word, use }) => `${code(word)} still means ${code(use)}`),
    ...sizes,
    pattern === undefined ? '' : code(pattern),
    each === undefined ? '' : `each: ${limits(each)}`,
  ]
    .filter((text) => text !== '')
    .join('; ');
}

export function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('*', '\\*');
}
