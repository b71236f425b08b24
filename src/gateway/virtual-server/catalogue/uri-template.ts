// Matches URIs with templates (RFC 6570) in time linear in the URI, because clients choose URIs and members choose
// templates. A backtracking engine needs n^k steps for a template with k variables.

import { setBounded } from '#std/bounded.ts';
import { compileRe2, type Re2 } from '#std/patterns/re2.ts';

interface Compiled {
  /** Text before the first variable. */
  readonly prefix: string;
  readonly expression: Re2;
}

const TEMPLATES_MAX = 10_000;
/** Longer URIs match no template. Slightly above the 8,000 octets of RFC 9110 section 4.1. */
const URI_LENGTH_MAX = 8192;
const known = new Map<string, Compiled>();

/** Matches templates of levels 1 to 3. A value may contain all characters except the characters that end the value. */
export function matchTemplate(template: string, uri: string): boolean {
  if (uri.length > URI_LENGTH_MAX) return false;
  let compiled = known.get(template);
  if (compiled === undefined) {
    compiled = compileTemplate(template);
    setBounded(known, template, compiled, TEMPLATES_MAX);
  }
  const { prefix, expression } = compiled;
  return uri.startsWith(prefix) && expression.ok && expression.matcher.test(uri) === true;
}

function compileTemplate(template: string): Compiled {
  const parts = template.split(/(\{[^{}]*\})/);
  const pattern = parts.map((part) => (isVariable(part) ? variablePattern(part) : escapeLiteral(part)));
  return { prefix: parts[0] ?? '', expression: compileRe2(`^${pattern.join('')}$`) };
}

function isVariable(part: string): boolean {
  return part.startsWith('{') && part.endsWith('}');
}

function variablePattern(part: string): string {
  switch (part[1]) {
    case '+':
      return '[^?#]*';
    case '#':
      return '(?:#.*)?';
    case '?':
    case '&':
      return '(?:[?&][^#]*)?';
    default:
      return '[^?#]*?';
  }
}

function escapeLiteral(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
