// Compiles regular expressions as Go (RE2) reads and matches them. Matching takes steps in proportion to the text.
// Source: the syntax page of RE2. Every construct means the same as there, or is refused.

import { readClass, readEscape } from './class.ts';
import { type Cursor, peek, refusePattern } from './cursor.ts';
import { type Matcher, matcherOf } from './match.ts';
import { isKnownHere, type Node, sizeOf } from './node.ts';

export type Re2 = { readonly ok: true; readonly matcher: Matcher } | { readonly ok: false; readonly reason: string };

/** Returns a refusal with a reason if Go would refuse the pattern. */
export function compileRe2(pattern: string): Re2 {
  const cursor: Cursor = { text: [...pattern], at: 0 };
  const node = alternatives(cursor, NO_FLAGS, 0);
  if (cursor.refusal !== undefined) return { ok: false, reason: cursor.refusal };
  if (sizeOf(node) > MAX_SIZE) return { ok: false, reason: 'the expression is too large' };
  // The pattern has a Unicode script or category that this engine does not have.
  if (!isKnownHere(node)) return { ok: false, reason: 'the expression cannot be expressed here' };
  return { ok: true, matcher: matcherOf(node) };
}

const NO_FLAGS = { i: false, m: false, s: false, U: false };
type Flags = typeof NO_FLAGS;

/** RE2's own limit, which also applies to nested counts. */
const MAX_REPEAT = 1000;
const MAX_DEPTH = 200;
/** Far above the size of expressions in schemas, far below the limit of Go. */
const MAX_SIZE = 20_000;

function alternatives(cursor: Cursor, flags: Flags, depth: number): Node {
  if (depth > MAX_DEPTH) refusePattern(cursor, 'the groups are nested too deeply');
  const branches: Node[][] = [[]];
  // `(?i)` applies to the end of its group, across alternatives.
  let current = flags;
  while (cursor.at < cursor.text.length && peek(cursor) !== ')') {
    if (peek(cursor) === '|') {
      cursor.at++;
      branches.push([]);
      continue;
    }
    const changed = inlineFlags(cursor, current);
    if (changed === undefined) branches.at(-1)?.push(repeated(cursor, current, depth));
    else current = changed;
  }
  if (depth === 0 && cursor.at < cursor.text.length) refusePattern(cursor, 'unexpected )');
  return { op: 'either', branches };
}

/** Reads `(?i)` or `(?-s)`. Returns undefined if the cursor is at another construct. */
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
  if (rest.length > 0 || off === '') refusePattern(cursor, 'bad flags after (?');
  const changed = { ...flags };
  for (const letter of on) changed[letter as keyof Flags] = true;
  for (const letter of off ?? '') changed[letter as keyof Flags] = false;
  return changed;
}

function repeated(cursor: Cursor, flags: Flags, depth: number): Node {
  const first = peek(cursor) ?? '';
  if ('*+?'.includes(first)) refusePattern(cursor, `nothing before the ${first} to repeat`);
  const item = atom(cursor, flags, depth);
  const counts = repetition(cursor);
  if (counts === undefined) return item;
  const lazy = peek(cursor) === '?';
  if (lazy) cursor.at++;
  if ('*+?'.includes(peek(cursor) ?? ' ')) refusePattern(cursor, 'a repetition is repeated');
  const node: Node = { op: 'repeat', item, ...counts, greedy: lazy === flags.U };
  if (countsOf(node) > MAX_REPEAT) refusePattern(cursor, `counts inside of counts come to more than ${MAX_REPEAT}`);
  return node;
}

interface Counts {
  readonly least: number;
  /** Infinity if there is no limit. */
  readonly most: number;
  readonly counted: boolean;
}

const OPERATORS: Readonly<Record<string, Counts>> = {
  '*': { least: 0, most: Number.POSITIVE_INFINITY, counted: false },
  '+': { least: 1, most: Number.POSITIVE_INFINITY, counted: false },
  '?': { least: 0, most: 1, counted: false },
};

function repetition(cursor: Cursor): Counts | undefined {
  const operator = OPERATORS[peek(cursor) ?? ''];
  if (operator !== undefined) {
    cursor.at++;
    return operator;
  }
  // A brace that does not begin a count is an ordinary character.
  const found = /^\{(\d+)(?:,(\d*))?\}/.exec(cursor.text.slice(cursor.at, cursor.at + 16).join(''));
  if (found === null) return undefined;
  const [whole, lower = '', upper] = found;
  const least = Number(lower);
  const most = upper === undefined ? least : upper === '' ? Number.POSITIVE_INFINITY : Number(upper);
  if (least > MAX_REPEAT || (most > MAX_REPEAT && most !== Number.POSITIVE_INFINITY)) {
    refusePattern(cursor, `a count is above ${MAX_REPEAT}`);
  } else if (most < least) refusePattern(cursor, 'a count runs backwards');
  else cursor.at += whole.length;
  return { least, most, counted: true };
}

/** Returns the product of the counts on the deepest path. */
function countsOf(node: Node): number {
  switch (node.op) {
    case 'either':
      return Math.max(1, ...node.branches.flat().map(countsOf));
    case 'repeat': {
      const own = node.counted ? (node.most === Number.POSITIVE_INFINITY ? node.least : node.most) : 1;
      return Math.max(1, own) * countsOf(node.item);
    }
    case 'one':
    case 'look':
      return 1;
  }
}

function atom(cursor: Cursor, flags: Flags, depth: number): Node {
  const next = cursor.text[cursor.at++] ?? '';
  switch (next) {
    case '(':
      return group(cursor, flags, depth);
    case '[':
      return one(readClass(cursor), flags);
    case '.':
      return { op: 'one', source: flags.s ? '[^]' : '[^\\n]' };
    case '^':
      return { op: 'look', at: flags.m ? 'line-start' : 'start' };
    case '$':
      return { op: 'look', at: flags.m ? 'line-end' : 'end' };
    case '\\':
      return escaped(cursor, flags);
    default:
      return one(literal(next), flags);
  }
}

function one(source: string, flags: Flags): Node {
  return { op: 'one', source: flags.i ? `(?i:${source})` : source };
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

const LOOKS = { A: 'start', z: 'end', b: 'word-edge', B: 'no-word-edge' } as const;

function escaped(cursor: Cursor, flags: Flags): Node {
  const next = peek(cursor) ?? '';
  const at = Object.hasOwn(LOOKS, next) ? LOOKS[next as keyof typeof LOOKS] : undefined;
  if (at !== undefined) {
    cursor.at++;
    return { op: 'look', at };
  }
  if (next === 'Q') return readQuoted(cursor, flags);
  return one(readEscape(cursor), flags);
}

/** Reads `\Q...\E`, in which every character is ordinary. */
function readQuoted(cursor: Cursor, flags: Flags): Node {
  cursor.at++;
  const start = cursor.at;
  while (cursor.at < cursor.text.length && !(peek(cursor) === '\\' && peek(cursor, 1) === 'E')) cursor.at++;
  const content = cursor.text.slice(start, cursor.at);
  cursor.at = Math.min(cursor.at + 2, cursor.text.length);
  return { op: 'either', branches: [content.map((character) => one(literal(character), flags))] };
}

/** Reads a group. Groups do not capture, because their matches are never needed. */
function group(cursor: Cursor, flags: Flags, depth: number): Node {
  let inner = flags;
  if (peek(cursor) === '?') {
    cursor.at++;
    inner = groupHead(cursor, flags);
  }
  const content = alternatives(cursor, inner, depth + 1);
  if (peek(cursor) === ')') cursor.at++;
  else refusePattern(cursor, 'missing closing )');
  return content;
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
    refusePattern(cursor, '(? must be followed by a name or flags; RE2 knows no lookaround');
    return flags;
  }
  cursor.at += head[0].length;
  return applyFlags(cursor, flags, head[1] ?? '');
}
