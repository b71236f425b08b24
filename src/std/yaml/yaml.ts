// Reads YAML, and therefore JSON, as Kubernetes does, with the places of values.

import type { LineCounter } from 'yaml';
import type { Json } from '../json.ts';
import type { Problem, SourcePlace } from '../problem.ts';
import { plainValues } from './events.ts';
import { parseNodes, type YamlNodes } from './nodes.ts';
import { yamlPackage } from './package.ts';
import { TOO_DEEP } from './parse-errors.ts';
import { offsetOf } from './place.ts';
import { toValue, type YamlFault } from './value.ts';

export interface ReadDocument {
  /** undefined if the document is unreadable. */
  readonly value: Json | undefined;
  /** Problems without `resource`. Each has a place, and a pointer if it is inside the value. */
  readonly problems: readonly Problem[];
  /**
   * Returns the place of the value, or of its key. If the value does not exist, returns the place of the nearest
   * enclosing key.
   */
  place(pointer: string, at?: 'key' | 'value'): SourcePlace;
}

/**
 * Returns all documents of a text except empty documents. Scalars mean the same as for kubectl: `0644` is 420, `yes` is
 * true, dates are strings, and `<<` merges. Never throws: faults are in `problems`.
 */
export function readDocuments(text: string, file: string): ReadDocument[] {
  const values = plainValues(text);
  if (values === undefined) return readCarefully(text, file);
  let places: ReturnType<typeof placesIn> | undefined;
  return values.map((value, index) => ({
    value,
    problems: [],
    place(pointer, at) {
      places ??= placesIn(text, file);
      return places[index]?.(pointer, at) ?? { file, line: 1, column: 1 };
    },
  }));
}

/** Returns the places of the documents that are not empty, in a text without faults. */
function placesIn(text: string, file: string): readonly ReadDocument['place'][] {
  const { documents, lines } = parseNodes(text);
  const written = documents.filter((document) => (toValue(document).value ?? null) !== null);
  return written.map(
    (document) =>
      (pointer, at = 'value') =>
        placeAt(lines, offsetOf(document, text, pointer, at), file),
  );
}

/** Reads texts with faults or unusual parts. Ten times slower than `plainValues`. */
export function readCarefully(text: string, file: string): ReadDocument[] {
  if (hasTooManyTokens(text)) return [unread(TOO_MANY, file)];
  const read = unlessTooDeep(() => {
    const parsed = parseNodes(text);
    return { lines: parsed.lines, values: parsed.documents.map(toValue) };
  });
  if (read === undefined) return [unread(TOO_DEEP, file)];
  // Nodes are large, and few files need places. The text is therefore parsed again on demand.
  let again: YamlNodes | undefined;
  return read.values.flatMap(({ value, faults }, index) => {
    if (faults.length === 0 && (value === null || value === undefined)) return [];
    const problems = faults.map((fault) => yamlProblem(fault, placeAt(read.lines, fault.offset, file)));
    return {
      value,
      problems,
      place(pointer: string, at: 'key' | 'value' = 'value'): SourcePlace {
        again ??= parseNodes(text);
        const found = again.documents[index];
        if (found === undefined) return { file, line: 1, column: 1 };
        return placeAt(again.lines, offsetOf(found, text, pointer, at), file);
      },
    };
  });
}

/** Returns undefined if the recursion of parser and reader exhausts the stack. */
function unlessTooDeep<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function placeAt(lines: LineCounter, offset: number, file: string): SourcePlace {
  const { line, col } = lines.linePos(offset);
  return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
}

function yamlProblem(fault: YamlFault, place: SourcePlace): Problem {
  const { code, message, pointer } = fault;
  return { code, severity: 'error', message, place, pointer };
}

/**
 * Maximum number of tokens, which become nodes of up to 900 bytes each. Manifests have one token per six characters, so
 * the limit is about five million characters.
 */
const TOKENS_MAX = 800_000;
const TOO_MANY = 'The file has more values and marks than can be read at once: split it into several files.';

/**
 * Returns whether the text has too many tokens. The lexer stores no tokens. A text may have slightly more tokens than
 * characters.
 */
function hasTooManyTokens(text: string): boolean {
  if (text.length < TOKENS_MAX / 2) return false;
  let count = 0;
  for (const _token of new (yamlPackage().Lexer)().lex(text)) {
    count += 1;
    if (count > TOKENS_MAX) return true;
  }
  return false;
}

function unread(message: string, file: string): ReadDocument {
  const place = { file, line: 1, column: 1 };
  return {
    value: undefined,
    problems: [{ code: 'yaml-syntax', severity: 'error', message, place }],
    place: () => place,
  };
}
