// Parses JSON without rounding large integers. JavaScript numbers would round integers beyond 2^53.

declare global {
  interface JSON {
    /** Part of the ECMAScript proposal "JSON.parse source text access", in V8 since 11.4. */
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** Number as text. `JSON.stringify` writes its digits unchanged. */
export type RawNumber = { readonly rawJSON: string };

/** Matches texts that may contain an integer beyond 2^53. */
const LONG_NUMBER = /\d{16}/;
const INTEGER = /^-?\d+$/;

/** Parses JSON, with integers beyond 2^53 as RawNumber. Throws a SyntaxError for invalid JSON. */
export function parseExactly(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepInteger) : JSON.parse(text);
}

function keepInteger(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return INTEGER.test(source) ? JSON.rawJSON(source) : value;
}
