// Builds HTML. Every inserted text is escaped, unless it is already HTML.

export interface Html {
  readonly html: string;
}

type HtmlPart = string | Html | readonly Html[];

export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return { html: texts.map((text, index) => text + markupOf(parts[index] ?? '')).join('') };
}

function markupOf(part: HtmlPart): string {
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

/**
 * Characters that are shown as their number, because invisible characters can make different texts look equal (Unicode
 * TR 36): control characters, direction marks, joiners, tags, fillers, line separators, the Braille blank.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

function escapeText(text: string): string {
  return text
    .replaceAll(
      INVISIBLE,
      (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
