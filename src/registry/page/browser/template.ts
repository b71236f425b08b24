// Texts with places that whoever pastes them fills in: how a server.json says that a value is wanted.

import type { Input } from './entry.ts';

/** Something only the reader knows. */
export interface Blank {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
  readonly fallback?: string;
}

export type Template = readonly (string | Blank)[];

/**
 * What to write for an input: its fixed value with the variables in it, its default, or a blank where it is required.
 * Undefined where it may be left out.
 */
export function templateOf(input: Input): Template | undefined {
  if (input.value !== undefined) return harmless(parseTemplate(input.value, input.variables)) ?? [blank(input)];
  if (input.secret) return input.required ? [blank(input)] : undefined;
  if (input.default !== undefined) return harmless([input.default]) ?? [blank(input)];
  return input.required ? [blank(input)] : undefined;
}

/** A text of the document itself, such as an address; undefined where no client may be given it. */
export function addressOf(text: string, variables: readonly Input[]): Template | undefined {
  return harmless(parseTemplate(text, variables));
}

/** `{name}` stands for a variable; other braces for themselves. */
function parseTemplate(text: string, variables: readonly Input[]): Template {
  const parts: (string | Blank)[] = [];
  let from = 0;
  for (;;) {
    const open = text.indexOf('{', from);
    const close = open === -1 ? -1 : text.indexOf('}', open);
    if (close === -1) return joined([...parts, text.slice(from)]);
    const variable = variables.find(({ name }) => name === text.slice(open + 1, close));
    if (variable === undefined) {
      parts.push(text.slice(from, open + 1));
      from = open + 1;
      continue;
    }
    parts.push(
      text.slice(from, open),
      variable.value ?? (variable.secret ? undefined : variable.default) ?? blank(variable),
    );
    from = close + 1;
  }
}

/** What a terminal would act on, or what shows a text in another order than it has. */
const UNSEEN = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/**
 * Clients expand `${…}` in their files: a catalogue entry that says `${env:CLOUD_SECRET}` in a header would have the
 * reader's own secret sent to its server. Such texts are never passed on, nor is what no one sees before it is pasted.
 */
function harmless(template: Template): Template | undefined {
  const parts = joined(template);
  return parts.some((part) => typeof part === 'string' && (part.includes('${') || UNSEEN.test(part)))
    ? undefined
    : parts;
}

function joined(template: Template): Template {
  const parts: (string | Blank)[] = [];
  for (const part of template) {
    const last = parts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
    else if (part !== '') parts.push(part);
  }
  return parts;
}

function blank({ name, description = '', secret, default: fallback }: Input): Blank {
  return { name, description, secret, ...(fallback === undefined || secret ? {} : { fallback }) };
}
