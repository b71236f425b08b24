// Splits a Go template into tokens. Source: Go 1.26, text/template, "Text and spaces", "Actions" and "Arguments".

import { codePoint, isAlphanumeric } from './characters.ts';
import { scanLiteral } from './literal-tokens.ts';

export type TokenType =
  | 'text'
  | 'open'
  | 'close'
  | 'space'
  | '='
  | ':='
  | '|'
  | '('
  | ')'
  | 'variable'
  | 'field'
  | 'dot'
  | 'identifier'
  | 'keyword'
  | 'bool'
  | 'nil'
  | 'character'
  | 'complex'
  | 'number'
  | 'string'
  | 'raw string'
  /** Any other printable ASCII character. */
  | 'other'
  | 'end'
  /** Reading stopped at this index. The text of the token is the reason. */
  | 'fault';

/** A token. `at` is a UTF-16 index into the template. */
export interface Token {
  readonly type: TokenType;
  readonly text: string;
  readonly at: number;
}

const OPEN = '{{';
const CLOSE = '}}';
const KEYWORDS: ReadonlySet<string> = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
]);

interface Scan {
  readonly text: string;
  readonly tokens: Token[];
  at: number;
  /** Number of open parentheses in the action. */
  depth: number;
}

/** Returns all tokens. The last token is `end`, or `fault` if reading stopped. */
export function tokensOf(text: string): readonly Token[] {
  const scan: Scan = { text, tokens: [], at: 0, depth: 0 };
  while (readText(scan) && readAction(scan)) {
    // Each round reads a text and the action after it.
  }
  if (scan.tokens.at(-1)?.type !== 'fault') emit(scan, 'end', text.length, text.length);
  return scan.tokens;
}

function emit(scan: Scan, type: TokenType, from: number, to: number): void {
  scan.tokens.push({ type, text: scan.text.slice(from, to), at: from });
  scan.at = to;
}

/** Adds a fault. Returns false, which ends the reading. */
function fault({ tokens }: Scan, at: number, why: string): false {
  tokens.push({ type: 'fault', text: why, at });
  return false;
}

/**
 * Reads the text up to the next action, and the beginning of the action. Returns false if there is no further action,
 * or a comment is invalid.
 */
function readText(scan: Scan): boolean {
  const { text } = scan;
  for (;;) {
    const open = text.indexOf(OPEN, scan.at);
    if (open < 0) {
      if (scan.at < text.length) emit(scan, 'text', scan.at, text.length);
      return false;
    }
    const inside = open + OPEN.length;
    const trims = text[inside] === '-' && isSpace(text[inside + 1]);
    const end = trims ? spaceStart(text, scan.at, open) : open;
    if (end > scan.at) emit(scan, 'text', scan.at, end);
    const start = inside + (trims ? 2 : 0);
    if (!text.startsWith('/*', start)) {
      emit(scan, 'open', open, inside);
      scan.at = start;
      scan.depth = 0;
      return true;
    }
    if (!skipComment(scan, start)) return false;
  }
}

function skipComment(scan: Scan, start: number): boolean {
  const { text } = scan;
  const end = text.indexOf('*/', start + 2);
  if (end < 0) return fault(scan, start, 'the comment is not closed: */ is missing');
  const close = closeAt(text, end + 2);
  if (close === undefined) return fault(scan, end + 2, 'a comment must fill its action: }} must follow */');
  scan.at = close.after;
  return true;
}

interface Close {
  /** The index of `}}` itself. */
  readonly at: number;
  /** The index after the action and after the blanks that it trims. */
  readonly after: number;
}

/** Returns undefined if the action does not end at this index. */
function closeAt(text: string, at: number): Close | undefined {
  if (isSpace(text[at]) && text.startsWith(`-${CLOSE}`, at + 1)) {
    return { at: at + 2, after: spaceEnd(text, at + 2 + CLOSE.length) };
  }
  return text.startsWith(CLOSE, at) ? { at, after: at + CLOSE.length } : undefined;
}

/** Reads the rest of an action. Returns false if it is invalid. */
function readAction(scan: Scan): boolean {
  for (;;) {
    const close = closeAt(scan.text, scan.at);
    if (close === undefined) {
      if (!readInside(scan)) return false;
      continue;
    }
    if (scan.depth > 0) return fault(scan, scan.at, 'a parenthesis is not closed');
    emit(scan, 'close', close.at, close.at + CLOSE.length);
    scan.at = close.after;
    return true;
  }
}

/** Reads one token of an action. */
function readInside(scan: Scan): boolean {
  const { text, at } = scan;
  const char = text[at];
  if (char === undefined) return fault(scan, at, 'the action is not closed: }} is missing');
  if (isSpace(char)) return readSpace(scan);
  if (char === '=' || char === '|') return taken(scan, char, at + 1);
  if (char === ':') {
    if (text[at + 1] === '=') return taken(scan, ':=', at + 2);
    return fault(scan, at, 'a colon must be part of :=');
  }
  if (char === '(' || char === ')') return readParenthesis(scan, char);
  const literal = scanLiteral(text, at);
  if (literal !== undefined) {
    if ('fault' in literal) return fault(scan, at, literal.fault);
    return taken(scan, literal.type, literal.end);
  }
  if (char === '.' || char === '$' || isAlphanumeric(codePoint(text, at))) return readName(scan, char);
  if (char > ' ' && char <= '~') return taken(scan, 'other', at + 1);
  return fault(scan, at, `the character ${JSON.stringify(codePoint(text, at))} has no meaning in an action`);
}

function taken(scan: Scan, type: TokenType, end: number): true {
  emit(scan, type, scan.at, end);
  return true;
}

/** Reads blanks. If the action ends with ` -}}`, the blank before `-` is not read. */
function readSpace(scan: Scan): boolean {
  const end = spaceEnd(scan.text, scan.at);
  const trimming = closeAt(scan.text, end - 1)?.at === end + 1;
  return taken(scan, 'space', trimming ? end - 1 : end);
}

function readParenthesis(scan: Scan, char: '(' | ')'): boolean {
  scan.depth += char === '(' ? 1 : -1;
  if (scan.depth < 0) return fault(scan, scan.at, 'a parenthesis is closed that was not opened');
  return taken(scan, char, scan.at + 1);
}

/** Reads `.`, `.field`, `$`, `$variable`, a keyword or an identifier. */
function readName(scan: Scan, first: string): boolean {
  const { text, at } = scan;
  const marked = first === '.' || first === '$';
  let end = marked ? at + 1 : at;
  while (isAlphanumeric(codePoint(text, end))) end += codePoint(text, end)?.length ?? 0;
  if (!endsName(text, end)) {
    return fault(
      scan,
      end,
      `a name must not be followed by ${JSON.stringify(codePoint(text, end))}: put a blank between`,
    );
  }
  const word = text.slice(at, end);
  if (first === '$') return taken(scan, 'variable', end);
  if (first === '.') return taken(scan, word === '.' ? 'dot' : 'field', end);
  if (word === 'true' || word === 'false') return taken(scan, 'bool', end);
  if (word === 'nil') return taken(scan, 'nil', end);
  return taken(scan, KEYWORDS.has(word) ? 'keyword' : 'identifier', end);
}

function endsName(text: string, at: number): boolean {
  const char = text[at];
  return char === undefined || isSpace(char) || '.,|:()'.includes(char) || text.startsWith(CLOSE, at);
}

function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n';
}

function spaceEnd(text: string, from: number): number {
  let at = from;
  while (isSpace(text[at])) at += 1;
  return at;
}

function spaceStart(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && isSpace(text[at - 1])) at -= 1;
  return at;
}
