// Parses expressions such as `${NAME}` and `${NAME:=default}` in a text, and replaces them with values.

/** Part of a text: literal text, or an expression. */
export type TextPart =
  | { readonly text: string }
  | {
      readonly name: string;
      /** Default, which replaces a missing or empty value. */
      readonly fallback?: readonly TextPart[];
    };

export type ParsedText =
  | { readonly ok: true; readonly parts: readonly TextPart[] }
  /** `expression` is the start of the malformed expression. */
  | { readonly ok: false; readonly expression: string };

/** Pattern of variable names. */
export const NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_]*$';

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const DEFAULT = /:=|:-|=/y;
/** Maximum depth of expressions inside defaults. */
const DEPTH_MAX = 8;
const SHOWN_MAX = 40;

export function hasExpression(text: string): boolean {
  return text.includes('${');
}

export function parseText(text: string): ParsedText {
  const { parts, at, fault } = readParts(text, 0, 0);
  const wrong = fault ?? (at < text.length ? at : undefined);
  return wrong === undefined ? { ok: true, parts } : { ok: false, expression: text.slice(wrong, wrong + SHOWN_MAX) };
}

interface PartsOfText {
  readonly parts: readonly TextPart[];
  /** Position after the last part. */
  readonly at: number;
  /** Position of a malformed expression; absent if all expressions are well formed. */
  readonly fault?: number;
}

/** Reads the parts of a text. At a depth above 0, the parts end at a closing brace. */
function readParts(text: string, start: number, depth: number): PartsOfText {
  const parts: TextPart[] = [];
  let literal = start;
  let at = start;
  const keepLiteral = (): void => {
    if (at > literal) parts.push({ text: text.slice(literal, at) });
  };
  while (at < text.length && !(depth > 0 && text[at] === '}')) {
    if (text.startsWith('$${', at)) {
      keepLiteral();
      parts.push({ text: '${' });
      at += 3;
      literal = at;
    } else if (text.startsWith('${', at)) {
      keepLiteral();
      const read = readExpression(text, at, depth);
      if (read === undefined) return { parts, at, fault: at };
      parts.push(read.part);
      at = read.at;
      literal = at;
    } else {
      at += 1;
    }
  }
  keepLiteral();
  return { parts, at };
}

function readExpression(text: string, start: number, depth: number): { part: TextPart; at: number } | undefined {
  const name = matchAt(NAME, text, start + 2);
  if (name === undefined || depth >= DEPTH_MAX) return undefined;
  const afterName = start + 2 + name.length;
  if (text[afterName] === '}') return { part: { name }, at: afterName + 1 };
  const operator = matchAt(DEFAULT, text, afterName);
  if (operator === undefined) return undefined;
  const { parts: fallback, at, fault } = readParts(text, afterName + operator.length, depth + 1);
  return fault === undefined && text[at] === '}' ? { part: { name, fallback }, at: at + 1 } : undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Returns the names in the expressions of a text, including the names inside defaults. */
export function namesIn(parts: readonly TextPart[]): readonly string[] {
  return parts.flatMap((part) => ('text' in part ? [] : [part.name, ...namesIn(part.fallback ?? [])]));
}

export interface Expansion {
  readonly text: string;
  /** Names without a value and without a default. */
  readonly missing: readonly string[];
  /** Names whose values are part of the text. */
  readonly used: readonly string[];
}

/**
 * Replaces expressions with values. A default replaces a missing or empty value. After `lengthMax` characters, the
 * remaining parts are dropped.
 */
export function expandParts(
  parts: readonly TextPart[],
  findValue: (name: string) => string | undefined,
  lengthMax: number,
): Expansion {
  const missing: string[] = [];
  const used: string[] = [];
  let length = 0;
  const pieces = parts.map((part): string => {
    if (length > lengthMax) return '';
    const piece = pieceOf(part);
    length += piece.length;
    return piece;
  });
  function pieceOf(part: TextPart): string {
    if ('text' in part) return part.text;
    const value = findValue(part.name);
    if (value !== undefined && (value !== '' || part.fallback === undefined)) {
      used.push(part.name);
      return value;
    }
    if (part.fallback === undefined) {
      missing.push(part.name);
      return '';
    }
    const inner = expandParts(part.fallback, findValue, lengthMax);
    missing.push(...inner.missing);
    used.push(...inner.used);
    return inner.text;
  }
  return { text: pieces.join(''), missing, used };
}
