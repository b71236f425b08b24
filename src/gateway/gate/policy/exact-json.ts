// Parses JSON so that large integers keep every digit: a JavaScript number would round integers beyond 2^53.

declare global {
  interface JSON {
    /** API of the ECMAScript proposal "JSON.parse source text access", in V8 since 11.4. */
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** A number as text, which `JSON.stringify` passes on digit for digit. */
export type RawNumber = { readonly rawJSON: string };

/** Only numbers with at least this many digits can be beyond 2^53. */
const LONG_NUMBER = /\d{16}/;
const INTEGER = /^-?\d+$/;

/** Parses JSON with integers beyond 2^53 as RawNumber. Throws a SyntaxError as `JSON.parse` does. */
export function parseExactly(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepInteger) : JSON.parse(text);
}

function keepInteger(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return INTEGER.test(source) ? JSON.rawJSON(source) : value;
}
