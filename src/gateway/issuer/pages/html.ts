// Text as HTML: everything that is put in is escaped, unless it is HTML already. Knows nothing about pages.

export interface Html {
  readonly html: string;
}

type Part = string | Html | readonly Html[];

export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: texts.map((text, index) => text + markupOf(parts[index] ?? '')).join('') };
}

function markupOf(part: Part): string {
  if (typeof part === 'string') return escapeText(part);
  return 'html' in part ? part.html : part.map((each) => each.html).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters and what turns the direction of writing make one text look like another (Unicode TR 36). */
function escapeText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu, ' ')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
