// Defines texts with blanks for values that a server.json requires from the reader.

import type { Input } from './entry.ts';

/** A value from the reader. */
export interface Blank {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
  readonly fallback?: string;
}

export type Template = readonly (string | Blank)[];

/**
 * Returns the value of an input: its fixed value with variables, or its default. Instead of a dangerous value, a
 * secret's default or a missing but required value, returns a blank. Returns undefined if the input may be left out.
 */
export function templateOf(input: Input): Template | undefined {
  if (input.value !== undefined) return harmless(parseTemplate(input.value, input.variables)) ?? [blank(input)];
  if (input.secret) return input.required ? [blank(input)] : undefined;
  if (input.default !== undefined) return harmless([input.default]) ?? [blank(input)];
  return input.required ? [blank(input)] : undefined;
}

/** Returns the template of a text in the document, such as a URL. Returns undefined if the text is dangerous. */
export function addressOf(text: string, variables: readonly Input[]): Template | undefined {
  return harmless(parseTemplate(text, variables));
}

/**
 * Replaces `{name}` by the variable's value or default, or else by a blank. Does not use the defaults of secrets.
 * Braces without a known variable stay text.
 */
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

/** Characters that a terminal interprets, or that change the visible order of a text. */
const INVISIBLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/**
 * Returns undefined for a dangerous text. Clients expand `${…}` in their files: with `${env:CLOUD_SECRET}` in a header,
 * clients would send the reader's own secret to the entry's server. Invisible characters are refused too.
 */
function harmless(template: Template): Template | undefined {
  const parts = joined(template);
  return parts.some((part) => typeof part === 'string' && (part.includes('${') || INVISIBLE.test(part)))
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
