// Defines the state of parsing a template: the position in its tokens, and the fault that ended the parsing.

import type { TemplateNode } from './nodes.ts';
import type { Token, TokenType } from './tokens.ts';

export interface TemplateFault {
  /** The fault and its remedy, without a full stop. */
  readonly message: string;
  /** UTF-16 index into the template. */
  readonly at: number;
}

export interface Cursor {
  readonly tokens: readonly Token[];
  /** Names of the functions that a template may call. */
  readonly functions: ReadonlySet<string>;
  readonly definitions: Map<string, readonly TemplateNode[]>;
  at: number;
  /** Number of parts of the template around the current position. */
  depth: number;
  /** The first fault. After a fault, `peek` and `take` return the end of the template, so that all loops end. */
  fault?: TemplateFault;
}

/** The state of a template, or of a `define` inside it. */
export interface TemplateScope {
  readonly variables: string[];
  /** Number of `range` actions around the current position. */
  loops: number;
}

export function newScope(): TemplateScope {
  return { variables: ['$'], loops: 0 };
}

const NOTHING: Token = { type: 'end', text: '', at: 0 };

/** Returns the next token, which can be a blank. */
export function peekRaw({ tokens, at, fault }: Cursor): Token {
  return fault === undefined ? (tokens[at] ?? NOTHING) : NOTHING;
}

/** Takes the next token, which can be a blank. */
export function takeRaw(cursor: Cursor): Token {
  const token = peekRaw(cursor);
  cursor.at += 1;
  return token;
}

/** Skips blanks, and returns the next token. */
export function peek(cursor: Cursor): Token {
  while (peekRaw(cursor).type === 'space') cursor.at += 1;
  return peekRaw(cursor);
}

export function take(cursor: Cursor): Token {
  peek(cursor);
  return takeRaw(cursor);
}

export function refuseAt(cursor: Cursor, at: number, message: string): void {
  cursor.fault ??= { message, at };
}

/** Reports a token that is not allowed at its position. `expected` describes the allowed tokens. */
export function refuseToken(cursor: Cursor, token: Token, expected: string): void {
  if (token.type === 'fault') refuseAt(cursor, token.at, token.text);
  else refuseAt(cursor, token.at, `expected ${expected}, not ${tokenName(token)}`);
}

function tokenName({ type, text }: Token): string {
  switch (type) {
    case 'end':
      return 'the end of the template';
    case 'close':
      return 'the end of the action';
    default:
      return text;
  }
}

export function expect(cursor: Cursor, type: TokenType, expected: string): Token {
  const token = take(cursor);
  if (token.type !== type) refuseToken(cursor, token, expected);
  return token;
}

const MAX_DEPTH = 500;

/** Reads a nested part of the template. The depth of nested parts is limited. */
export function nested<T>(cursor: Cursor, at: number, read: () => T): T {
  cursor.depth += 1;
  if (cursor.depth > MAX_DEPTH) refuseAt(cursor, at, `nested deeper than ${MAX_DEPTH} levels`);
  const result = read();
  cursor.depth -= 1;
  return result;
}
