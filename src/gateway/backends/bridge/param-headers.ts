// Copies arguments of tool calls into the headers that the tool's schema requests with `x-mcp-header` (MCP 2026-07-28,
// Streamable HTTP, Custom Headers from Tool Parameters).

import { isObject, type JsonObject } from '#std/json.ts';
import { decodeHeaderValue, encodeHeaderValue, PARAM_HEADER_PREFIX } from '../../wire/headers.ts';

export interface ParamHeader {
  /** Name in lower case. */
  readonly header: string;
  /** Keys that lead from the arguments object to the value. */
  readonly path: readonly string[];
}

/**
 * Headers of a tool, or the reason why its annotations are invalid, for the log. A tool with invalid annotations is not
 * offered.
 */
export type ParamHeaders =
  | { readonly ok: true; readonly headers: readonly ParamHeader[] }
  | { readonly ok: false; readonly reason: string };

const ANNOTATION = 'x-mcp-header';
/** Token of RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', 'required', ANNOTATION]);
/** Keywords whose values map names, chosen by the author, to schemas. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const MAX_DEPTH = 64;

/** Headers by name. A map, because a schema may have hundreds of thousands of properties. */
type Found = Map<string, ParamHeader>;

export function paramHeadersOf(inputSchema: unknown): ParamHeaders {
  const headers: Found = new Map();
  const reason = visit(inputSchema, [], headers, 0);
  return reason === undefined ? { ok: true, headers: [...headers.values()] } : { ok: false, reason };
}

/**
 * Collects the headers of a schema and of its nested schemas. `path` is undefined if another keyword than `properties`
 * leads to the schema.
 */
function visit(
  schema: unknown,
  path: readonly string[] | undefined,
  headers: Found,
  depth: number,
): string | undefined {
  if (depth > MAX_DEPTH) return 'the schema is nested too deep';
  if (Array.isArray(schema)) return firstOf(schema.map((each) => () => visit(each, undefined, headers, depth + 1)));
  if (!isObject(schema)) return undefined;
  const own = ANNOTATION in schema ? annotate(schema, path, headers) : undefined;
  if (own !== undefined) return own;
  return firstOf(
    Object.entries(schema)
      .filter(([keyword]) => !DATA.has(keyword))
      .map(
        ([keyword, value]) =>
          () =>
            visitKeyword(keyword, value, path, headers, depth),
      ),
  );
}

function visitKeyword(
  keyword: string,
  value: unknown,
  path: readonly string[] | undefined,
  headers: Found,
  depth: number,
): string | undefined {
  if (!NAMED.has(keyword)) return visit(value, undefined, headers, depth + 1);
  if (!isObject(value)) return undefined;
  const chained = keyword === 'properties' ? path : undefined;
  return firstOf(
    Object.entries(value).map(
      ([name, schema]) =>
        () =>
          visit(schema, chained && [...chained, name], headers, depth + 1),
    ),
  );
}

function annotate(schema: JsonObject, path: readonly string[] | undefined, headers: Found): string | undefined {
  const name = schema[ANNOTATION];
  if (typeof name !== 'string' || !TOKEN.test(name)) return `${ANNOTATION} is not a header name`;
  if (path === undefined || path.length === 0) return `${ANNOTATION} ${name} is not at a property that is always there`;
  if (!TYPES.has(schema.type)) return `${ANNOTATION} ${name} is at a property that is not a string, integer or boolean`;
  const header = PARAM_HEADER_PREFIX + name.toLowerCase();
  if (headers.has(header)) return `${ANNOTATION} ${name} occurs twice`;
  headers.set(header, { header, path });
  return undefined;
}

function firstOf(steps: readonly (() => string | undefined)[]): string | undefined {
  for (const step of steps) {
    const reason = step();
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Returns the headers for a call with these arguments. Absent and null arguments have no header. */
export function paramHeaderValues(headers: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { header, path } of headers) {
    let value: unknown = args;
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof value === 'string') values[header] = encodeHeaderValue(value);
    else if (typeof value === 'boolean' || Number.isSafeInteger(value)) values[header] = String(value);
  }
  return values;
}

/**
 * Returns whether the headers of a request match its arguments (MCP 2026-07-28, Server Behavior for Custom Headers).
 */
export function paramHeadersMatch(
  headers: readonly ParamHeader[],
  args: JsonObject,
  given: Readonly<Record<string, string>>,
): boolean {
  const due = paramHeaderValues(headers, args);
  return headers.every(({ header }) => {
    const [text, expected] = [given[header], due[header]];
    if (text === undefined || expected === undefined) return text === expected;
    const value = decodeHeaderValue(text);
    if (value === undefined) return false;
    if (value === decodeHeaderValue(expected)) return true;
    return /^-?[0-9]+$/.test(expected) && value.trim() !== '' && Number(value) === Number(expected);
  });
}
