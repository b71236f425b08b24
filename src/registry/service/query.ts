// Parses the query parameters of a listing.

import type { EntryStatus } from '../catalogue/entry.ts';
import type { ListOrder, ListQuery } from '../catalogue/ports.ts';
import type { ErrorResponse, ValueOrError } from './answer.ts';
import { decodeCursor, type Filters } from './cursor.ts';

export const LIMIT_DEFAULT = 30;
export const LIMIT_MAX = 100;
export const TEXT_LENGTH_MAX = 255;
/** Maximum number of values of a repeatable parameter. */
export const VALUES_MAX = 16;
const STATUSES: readonly EntryStatus[] = ['active', 'deprecated', 'deleted'];

/** Sort orders. The first order is the default. */
export const SORTS = ['name', 'changed', 'stars', 'pulls'] as const satisfies readonly (ListOrder | 'name')[];

/** Values by name. A repeated name has a list of values. */
export type RawQuery = Readonly<Record<string, unknown>>;

export interface ListRequest {
  readonly query: ListQuery;
  /** Filters to which the cursor of the next page is bound. */
  readonly filters: Filters;
}

/** `registry` is the name of the registry. Cursors are bound to it. Unknown parameters are ignored. */
export function readListQuery(raw: RawQuery, registry: string): ValueOrError<ListRequest> {
  const read = all({
    limit: readLimit(raw),
    search: readText(raw, 'search'),
    version: readText(raw, 'version'),
    updatedSince: readTime(raw, 'updated_since'),
    // Parameters outside the official API begin with `x-`.
    tags: readTexts(raw, 'x-tag'),
    tiers: readTexts(raw, 'x-tier'),
    transports: readTexts(raw, 'x-transport'),
    statuses: readStatuses(raw),
    sort: readSort(raw),
  });
  if (!read.ok) return read;
  const { limit, ...conditions } = read.value;
  const includeDeleted = readIncludeDeleted(raw, impliesDeleted(conditions));
  if (!includeDeleted.ok) return includeDeleted;
  const asked = { ...withoutAbsent(conditions), includeDeleted: includeDeleted.value };
  const filters: Filters = { registry, ...asked };
  const after = readCursor(raw, filters);
  if (!after.ok) return after;
  return { ok: true, value: { filters, query: { ...asked, limit, ...withoutAbsent({ after: after.value }) } } };
}

/** Reads `include_deleted` for routes about one server. */
export function readVersionsQuery(raw: RawQuery): ValueOrError<boolean> {
  return readIncludeDeleted(raw, undefined);
}

/** Returns the parameter that implies `include_deleted`. */
function impliesDeleted({
  updatedSince,
  statuses,
}: {
  readonly updatedSince: string | undefined;
  readonly statuses: readonly EntryStatus[] | undefined;
}): string | undefined {
  if (updatedSince !== undefined) return 'updated_since';
  return statuses?.includes('deleted') === true ? 'x-status=deleted' : undefined;
}

/** Returns all values, or the first refusal. */
function all<T extends object>(reads: { readonly [K in keyof T]: ValueOrError<T[K]> }): ValueOrError<T> {
  const entries = Object.entries<ValueOrError<unknown>>(reads);
  for (const [, read] of entries) if (!read.ok) return read;
  const values = entries.map(([name, read]) => [name, read.ok ? read.value : undefined]);
  return { ok: true, value: Object.fromEntries(values) as T };
}

function readLimit(raw: RawQuery): ValueOrError<number> {
  const text = single(raw, 'limit');
  if (!text.ok) return text;
  if (text.value === undefined) return { ok: true, value: LIMIT_DEFAULT };
  const limit = /^[0-9]{1,9}$/.test(text.value) ? Number(text.value) : 0;
  // ToolHive also lowers larger limits, to 1000. `count` in the response states the number of entries.
  if (limit >= 1) return { ok: true, value: Math.min(limit, LIMIT_MAX) };
  return refuseQuery(`limit must be a positive integer; at most ${LIMIT_MAX} servers come in one page`);
}

function readText(raw: RawQuery, name: string): ValueOrError<string | undefined> {
  const text = single(raw, name);
  if (!text.ok || text.value === undefined) return text;
  if (text.value.length > TEXT_LENGTH_MAX)
    return refuseQuery(`${name} must not be longer than ${TEXT_LENGTH_MAX} characters`);
  if (!isStorable(text.value)) return refuseQuery(`${name} must not contain control characters`);
  return text;
}

/**
 * Returns false if the text contains control characters or unpaired surrogates. PostgreSQL text cannot store some of
 * these characters, and the others are invisible.
 */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

/** Reads a repeatable parameter. Ignores empty values. */
function readTexts(raw: RawQuery, name: string): ValueOrError<readonly string[] | undefined> {
  const given = raw[name];
  const values = (Array.isArray(given) ? given : [given]).filter((value) => typeof value === 'string' && value !== '');
  if (values.length > VALUES_MAX) return refuseQuery(`${name} must not be given more than ${VALUES_MAX} times`);
  for (const value of values) {
    const text = readText({ [name]: value }, name);
    if (!text.ok) return text;
  }
  // Sorted, so that the order of filters does not change the cursor.
  return { ok: true, value: values.length === 0 ? undefined : [...new Set(values)].sort() };
}

function readStatuses(raw: RawQuery): ValueOrError<readonly EntryStatus[] | undefined> {
  const texts = readTexts(raw, 'x-status');
  if (!texts.ok || texts.value === undefined) return texts.ok ? { ok: true, value: undefined } : texts;
  const statuses = texts.value.flatMap((text) => STATUSES.find((status) => status === text.toLowerCase()) ?? []);
  if (statuses.length === texts.value.length) return { ok: true, value: statuses };
  return refuseQuery(`x-status must be one of ${STATUSES.join(', ')}`);
}

function readSort(raw: RawQuery): ValueOrError<ListOrder | undefined> {
  const text = single(raw, 'x-sort');
  if (!text.ok || text.value === undefined) return text.ok ? { ok: true, value: undefined } : text;
  const sort = SORTS.find((each) => each === text.value);
  if (sort === undefined) return refuseQuery(`x-sort must be one of ${SORTS.join(', ')}`);
  return { ok: true, value: sort === 'name' ? undefined : sort };
}

/**
 * Reads `include_deleted` as the official API does: a client that requests changes must also see deletions. Therefore
 * `updated_since` implies deleted entries, and `include_deleted=false` contradicts it. `implied` is the parameter that
 * implies deleted entries, if present.
 */
function readIncludeDeleted(raw: RawQuery, implied: string | undefined): ValueOrError<boolean> {
  const text = single(raw, 'include_deleted');
  if (!text.ok) return text;
  switch (text.value) {
    case undefined:
      return { ok: true, value: implied !== undefined };
    case 'true':
      return { ok: true, value: true };
    case 'false':
      return implied === undefined
        ? { ok: true, value: false }
        : refuseQuery(`include_deleted=false cannot be combined with ${implied}`);
    default:
      return refuseQuery('include_deleted must be true or false');
  }
}

function readTime(raw: RawQuery, name: string): ValueOrError<string | undefined> {
  const text = single(raw, name);
  if (!text.ok || text.value === undefined) return text;
  if (isTime(text.value)) return { ok: true, value: text.value.toUpperCase() };
  return refuseQuery(`${name} must be an RFC 3339 time such as 2026-01-31T12:00:00Z (write + as %2B)`);
}

const TIME =
  /^([0-9]{4}-(?:0[1-9]|1[0-2])-[0-9]{2})[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/;

/** Returns whether the text is a time by RFC 3339 section 5.6. Leap seconds are refused. */
function isTime(text: string): boolean {
  const [, date] = TIME.exec(text) ?? [];
  if (date === undefined || date.startsWith('0000')) return false;
  // `Date.parse` moves a day after the end of the month to the next month.
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return Number.isFinite(midnight) && new Date(midnight).toISOString().startsWith(date);
}

function readCursor(raw: RawQuery, filters: Filters): ValueOrError<ListQuery['after']> {
  const text = single(raw, 'cursor');
  if (!text.ok || text.value === undefined) return text.ok ? { ok: true, value: undefined } : text;
  const after = decodeCursor(text.value, filters);
  if (after !== undefined) return { ok: true, value: after };
  const message = 'cursor is not valid for this registry and these filters; start again without it';
  return { ok: false, refused: { code: 'cursor-invalid', message } };
}

/**
 * Reads a parameter that must not be repeated. An empty value counts as absent, because clients send empty parameters.
 */
function single(raw: RawQuery, name: string): ValueOrError<string | undefined> {
  const value = raw[name];
  if (value === undefined || typeof value === 'string') return { ok: true, value: value === '' ? undefined : value };
  return refuseQuery(`${name} must be given once`);
}

function refuseQuery(message: string): { readonly ok: false; readonly refused: ErrorResponse } {
  return { ok: false, refused: { code: 'query-invalid', message } };
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function withoutAbsent<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>;
}
