// Regular expressions as Go (RE2) reads them, written again for the engine at hand. Knows nothing about who matches.
// Source: the syntax page of RE2. Every construct means the same in both, or is refused; only the time bound is not kept.

import { readClass, readEscape } from './re2-class.ts';
import { type Cursor, peek, refuse } from './re2-cursor.ts';

export type Re2 = { readonly ok: true; readonly regexp: RegExp } | { readonly ok: false; readonly reason: string };

/** Unanchored, as Go's `MatchString`; positions count UTF-16 units. Refused with a reason where Go would refuse it. */
export function compileRe2(pattern: string): Re2 {
  const cursor: Cursor = { text: [...pattern], at: 0 };
  const source = alternatives(cursor, NO_FLAGS, 0);
  if (cursor.refusal !== undefined) return { ok: false, reason: cursor.refusal };
  try {
    return { ok: true, regexp: new RegExp(source, 'u') };
  } catch (error) {
    // A Unicode script or category that this engine does not have.
    if (error instanceof SyntaxError) return { ok: false, reason: 'the expression cannot be expressed here' };
    throw error;
  }
}

const NO_FLAGS = { i: false, m: false, s: false, U: false };
type Flags = typeof NO_FLAGS;

/** RE2's own limit. */
const MAX_REPEAT = 1000;
const MAX_DEPTH = 200;

function alternatives(cursor: Cursor, flags: Flags, depth: number): string {
  if (depth > MAX_DEPTH) refuse(cursor, 'the groups are nested too deeply');
  const parts: string[] = [];
  // `(?i)` holds to the end of its group, across alternatives.
  let current = flags;
  let sequence = '';
  while (cursor.at < cursor.text.length && peek(cursor) !== ')') {
    if (peek(cursor) === '|') {
      cursor.at++;
      parts.push(sequence);
      sequence = '';
      continue;
    }
    const changed = inlineFlags(cursor, current);
    if (changed === undefined) sequence += repeated(cursor, current, depth);
    else current = changed;
  }
  if (depth === 0 && cursor.at < cursor.text.length) refuse(cursor, 'unexpected )');
  return [...parts, sequence].join('|');
}

/** `(?i)`, `(?-s)`: undefined where the cursor stands at something else. */
function inlineFlags(cursor: Cursor, flags: Flags): Flags | undefined {
  if (peek(cursor) !== '(' || peek(cursor, 1) !== '?') return undefined;
  let end = cursor.at + 2;
  while (/^[imsU-]$/.test(cursor.text[end] ?? '')) end++;
  if (cursor.text[end] !== ')' || end === cursor.at + 2) return undefined;
  const letters = cursor.text.slice(cursor.at + 2, end).join('');
  cursor.at = end + 1;
  return applyFlags(cursor, flags, letters);
}

function applyFlags(cursor: Cursor, flags: Flags, letters: string): Flags {
  const [on = '', off, ...rest] = letters.split('-');
  if (rest.length > 0 || off === '') refuse(cursor, 'bad flags after (?');
  const changed = { ...flags };
  for (const letter of on) changed[letter as keyof Flags] = true;
  for (const letter of off ?? '') changed[letter as keyof Flags] = false;
  return changed;
}

function repeated(cursor: Cursor, flags: Flags, depth: number): string {
  const first = peek(cursor) ?? '';
  if ('*+?'.includes(first)) refuse(cursor, `nothing before the ${first} to repeat`);
  const unit = atom(cursor, flags, depth);
  const operator = repetition(cursor);
  if (operator === undefined) return unit;
  const lazy = peek(cursor) === '?';
  if (lazy) cursor.at++;
  if ('*+?'.includes(peek(cursor) ?? ' ')) refuse(cursor, 'a repetition is repeated');
  return `(?:${unit})${operator}${lazy !== flags.U ? '?' : ''}`;
}

function repetition(cursor: Cursor): string | undefined {
  const next = peek(cursor);
  if (next === '*' || next === '+' || next === '?') {
    cursor.at++;
    return next;
  }
  // A brace that opens no count stands for itself.
  const counted = /^\{(\d+)(?:,(\d*))?\}/.exec(cursor.text.slice(cursor.at, cursor.at + 16).join(''));
  if (counted === null) return undefined;
  const [whole, least = '', most] = counted;
  if (Number(least) > MAX_REPEAT || Number(most ?? 0) > MAX_REPEAT) refuse(cursor, `a count is above ${MAX_REPEAT}`);
  if (most !== undefined && most !== '' && Number(most) < Number(least)) refuse(cursor, 'a count runs backwards');
  if (cursor.refusal === undefined) cursor.at += whole.length;
  return whole;
}

function atom(cursor: Cursor, flags: Flags, depth: number): string {
  const next = cursor.text[cursor.at++] ?? '';
  switch (next) {
    case '(':
      return group(cursor, flags, depth);
    case '[':
      return folded(readClass(cursor), flags);
    case '.':
      return flags.s ? '[^]' : '[^\\n]';
    case '^':
      return flags.m ? '(?<![^\\n])' : '^';
    case '$':
      return flags.m ? '(?![^\\n])' : '$';
    case '\\':
      return escaped(cursor, flags);
    default:
      return folded(literal(next), flags);
  }
}

function folded(source: string, flags: Flags): string {
  return flags.i ? `(?i:${source})` : source;
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

function escaped(cursor: Cursor, flags: Flags): string {
  const next = peek(cursor);
  const simple = { A: '^', z: '$', b: '\\b', B: '\\B' }[next ?? ''];
  if (simple !== undefined) {
    cursor.at++;
    return simple;
  }
  if (next === 'Q') return quoted(cursor, flags);
  return folded(readEscape(cursor), flags);
}

/** `\Q...\E`: everything between stands for itself. */
function quoted(cursor: Cursor, flags: Flags): string {
  cursor.at++;
  const start = cursor.at;
  while (cursor.at < cursor.text.length && !(peek(cursor) === '\\' && peek(cursor, 1) === 'E')) cursor.at++;
  const content = cursor.text.slice(start, cursor.at);
  cursor.at = Math.min(cursor.at + 2, cursor.text.length);
  return content.length === 0 ? '(?:)' : folded(`(?:${content.map(literal).join('')})`, flags);
}

/** Nothing captures: what a group matched is never asked for. */
function group(cursor: Cursor, flags: Flags, depth: number): string {
  let inner = flags;
  if (peek(cursor) === '?') {
    cursor.at++;
    inner = groupHead(cursor, flags);
  }
  const content = alternatives(cursor, inner, depth + 1);
  if (peek(cursor) === ')') cursor.at++;
  else refuse(cursor, 'missing closing )');
  return `(?:${content})`;
}

function groupHead(cursor: Cursor, flags: Flags): Flags {
  const rest = cursor.text.slice(cursor.at).join('');
  const name = /^P?<([A-Za-z0-9_]+)>/.exec(rest);
  if (name !== null) {
    cursor.at += name[0].length;
    return flags;
  }
  const head = /^([imsU]*(?:-[imsU]+)?):/.exec(rest);
  if (head === null) {
    refuse(cursor, '(? must be followed by a name or flags; RE2 knows no lookaround');
    return flags;
  }
  cursor.at += head[0].length;
  return applyFlags(cursor, flags, head[1] ?? '');
}
