// Matches glob patterns against whole texts, case-sensitively, in at most pattern length x text length steps. Syntax:
// `*` and `**` match any text, including `/` and the empty text. `?` matches one character. `[abc]`, `[a-z]` and `[!a]`
// are classes. `{a,b}` are alternatives, which may be nested. `\` escapes the next character.

import type { RE2JS } from 're2js';
import { re2js } from './package.ts';

/** A parsed pattern from `parseGlob`. */
export interface Glob {
  readonly pattern: string;
  /** Compiles the pattern on first use. */
  readonly expression: () => RE2JS;
}

interface Cursor {
  readonly chars: readonly string[];
  at: number;
}

/**
 * Returns undefined for a malformed pattern: an open class or brace, an empty class, a reversed range, or `\` at the
 * end.
 */
export function parseGlob(pattern: string): Glob | undefined {
  const source = readSequence({ chars: [...pattern], at: 0 }, 0);
  if (source === undefined) return undefined;
  let compiled: RE2JS | undefined;
  return { pattern, expression: () => (compiled ??= compile(source)) };
}

function compile(source: string): RE2JS {
  const { RE2JS } = re2js();
  return RE2JS.compile(source, RE2JS.DOTALL);
}

export function globMatches({ expression }: Glob, text: string): boolean {
  return expression().testExact(text);
}

/**
 * Returns the regular expression for the remaining pattern. Within braces, stops before the `,` or `}` that ends the
 * branch.
 */
function readSequence(cursor: Cursor, depth: number): string | undefined {
  let source = '';
  for (let char = cursor.chars[cursor.at]; char !== undefined; char = cursor.chars[cursor.at]) {
    if (depth > 0 && (char === ',' || char === '}')) return source;
    cursor.at += 1;
    const part = readPart(cursor, char, depth);
    if (part === undefined) return undefined;
    source += part;
  }
  return depth === 0 ? source : undefined;
}

function readPart(cursor: Cursor, char: string, depth: number): string | undefined {
  switch (char) {
    case '*':
      return '.*';
    case '?':
      return '.';
    case '[':
      return readClass(cursor);
    case '{':
      return depth < MAX_DEPTH ? readBranches(cursor, depth + 1) : undefined;
    case '\\': {
      const escaped = cursor.chars[cursor.at];
      cursor.at += 1;
      return escaped === undefined ? undefined : literal(codePointOf(escaped));
    }
    default:
      return literal(codePointOf(char));
  }
}

/** Limits the recursion. Deeper nesting of braces has no use. */
const MAX_DEPTH = 32;

function codePointOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function literal(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

function readBranches(cursor: Cursor, depth: number): string | undefined {
  const branches: string[] = [];
  for (;;) {
    const branch = readSequence(cursor, depth);
    if (branch === undefined) return undefined;
    branches.push(branch);
    const end = cursor.chars[cursor.at];
    cursor.at += 1;
    if (end === '}') return `(?:${branches.join('|')})`;
  }
}

function readClass(cursor: Cursor): string | undefined {
  const negated = cursor.chars[cursor.at] === '!';
  if (negated) cursor.at += 1;
  let ranges = '';
  while (cursor.chars[cursor.at] !== ']') {
    const low = readClassChar(cursor);
    if (low === undefined) return undefined;
    let high = low;
    if (cursor.chars[cursor.at] === '-') {
      cursor.at += 1;
      const end = readClassChar(cursor);
      if (end === undefined || end < low) return undefined;
      high = end;
    }
    ranges += `${literal(low)}-${literal(high)}`;
  }
  cursor.at += 1;
  return ranges === '' ? undefined : `[${negated ? '^' : ''}${ranges}]`;
}

/** Returns the code point of a class member. A bare `-` or `]` is not a member, as in Go's `filepath.Match`. */
function readClassChar(cursor: Cursor): number | undefined {
  let char = cursor.chars[cursor.at];
  if (char === undefined || char === '-' || char === ']') return undefined;
  cursor.at += 1;
  if (char === '\\') {
    char = cursor.chars[cursor.at];
    cursor.at += 1;
  }
  return char === undefined ? undefined : codePointOf(char);
}
