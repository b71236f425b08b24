// Finds the end of a literal in a Go template. Source: Go 1.26, text/template, "Arguments"; the Go specification,
// "Lexical elements".

import { codePoint, isAlphanumeric } from './characters.ts';

export type LiteralToken =
  | { readonly type: 'string' | 'raw string' | 'character' | 'number' | 'complex'; readonly end: number }
  | { readonly fault: string };

/** Returns undefined if no literal begins at this index. */
export function scanLiteral(text: string, at: number): LiteralToken | undefined {
  switch (text[at]) {
    case '"':
      return scanQuoted(text, at, 'string');
    case "'":
      return scanQuoted(text, at, 'character');
    case '`':
      return rawQuoted(text, at);
    default:
      return beginsNumber(text, at) ? numeric(text, at) : undefined;
  }
}

function scanQuoted(text: string, start: number, type: 'string' | 'character'): LiteralToken {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === quote) return { type, end: at + 1 };
    if (text[at] === '\\') at += 1;
    if (text[at] === '\n') break;
  }
  return { fault: `the ${type} is not closed: ${quote} is missing` };
}

function rawQuoted(text: string, start: number): LiteralToken {
  const end = text.indexOf('`', start + 1);
  return end < 0 ? { fault: 'the string is not closed: ` is missing' } : { type: 'raw string', end: end + 1 };
}

function beginsNumber(text: string, at: number): boolean {
  const char = text[at] ?? '';
  if (char === '.') return /^[0-9]$/.test(text[at + 1] ?? '');
  return /^[-+0-9]$/.test(char);
}

/** Reads all characters that a number can contain. `numberFault` checks whether the text is a number. */
function numeric(text: string, start: number): LiteralToken {
  const end = numberEnd(text, start);
  const wrong = { fault: `${JSON.stringify(text.slice(start, end + 1))} is not a number` };
  if (isAlphanumeric(codePoint(text, end))) return wrong;
  if (text[end] !== '+' && text[end] !== '-') return { type: 'number', end };
  const whole = numberEnd(text, end);
  if (isAlphanumeric(codePoint(text, whole)) || text[whole - 1] !== 'i') return wrong;
  return { type: 'complex', end: whole };
}

const DECIMAL = /[+-]?0?[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?i?/y;
const HEXADECIMAL = /[+-]?0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?i?/y;
const OCTAL = /[+-]?0[oO][0-7_]*(?:\.[0-7_]*)?i?/y;
const BINARY = /[+-]?0[bB][01_]*(?:\.[01_]*)?i?/y;

function numberEnd(text: string, start: number): number {
  for (const form of [HEXADECIMAL, OCTAL, BINARY, DECIMAL]) {
    form.lastIndex = start;
    if (form.test(text)) return form.lastIndex;
  }
  return start;
}
