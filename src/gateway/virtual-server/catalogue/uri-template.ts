// Whether a URI is one that a template (RFC 6570) can make. A client chooses the URI and a member the template, so the
// expression is matched in time that grows with the URI: a backtracking engine needs n^k steps for a template with k variables.

import { setBounded } from '#std/bounded.ts';
import { compileRe2, type Re2 } from '#std/re2/re2.ts';

interface Compiled {
  /** Text before the first variable. */
  readonly prefix: string;
  readonly expression: Re2;
}

const TEMPLATES_MAX = 10_000;
/** RFC 9110 section 4.1 asks for 8,000 octets: longer URIs match no template. */
const URI_LENGTH_MAX = 8192;
const known = new Map<string, Compiled>();

/** Levels 1 to 3, read backwards: values may have every character but those that end them. */
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
