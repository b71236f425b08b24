// Reads another registry's API as a source. If entries have an update time, later reads request only changes.
// Everything is read again once a day, because not every registry reports removed entries.

import type { Resume } from '#contracts/catalogue-state.ts';
import { type ApiOrigin, FORMAT_OF_APIS } from '#contracts/registry/source.ts';
import type { Content, Document, ReadRequest } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { openDeadline } from '../http/deadline.ts';
import { displayUrl } from '../http/failures.ts';
import type { Outbound, OutboundResponse } from '../http/outbound.ts';
import { askSource, documentOf, statusFailure, validatorsOf } from './answer.ts';
import { type Page, readPage } from './page.ts';

export interface ApiLimits {
  /** Timeout in milliseconds of one page. `timeoutMs` is for all pages. */
  readonly pageTimeoutMs: number;
  readonly timeoutMs: number;
  readonly pages: number;
  /** Maximum bytes of all pages. */
  readonly bytes: number;
}

export interface ApiDeps {
  readonly outbound: Outbound;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly limits?: Partial<ApiLimits>;
}

/** The official registry sometimes needs tens of seconds for a page. */
const LIMITS: ApiLimits = { pageTimeoutMs: 60_000, timeoutMs: 5 * 60_000, pages: 2000, bytes: 256 * 1024 * 1024 };
/** Paths in the order of attempts. The official registry supports both. */
const PATHS = ['/v0/servers', '/v0.1/servers'] as const;
const PAGE_SIZE = '100';
const WHOLE_EVERY_MS = 24 * 60 * 60_000;
/**
 * Overlap in milliseconds between reads. An entry that was written during the last read may have an earlier time than
 * the newest entry of that read.
 */
const OVERLAP_MS = 60_000;

interface ApiReading extends ReadRequest<ApiOrigin> {
  readonly deps: ApiDeps;
  readonly limits: ApiLimits;
}

/** Throws Failure with one of SOURCE_CODES or OUTBOUND_CODES. */
export async function readApi(deps: ApiDeps, request: ReadRequest<ApiOrigin>): Promise<Content | 'unchanged'> {
  const limits = { ...LIMITS, ...deps.limits };
  const deadline = openDeadline(limits.timeoutMs);
  const arrived = (bytes: number): Promise<void> | undefined => {
    const wait = request.arrived?.(bytes);
    return wait && deadline.afterWait(wait, request.signal);
  };
  const signal = AbortSignal.any([request.signal, deadline.signal]);
  const reading = { ...request, arrived, deps, limits, signal };
  try {
    return (await readChanges(reading)) ?? (await readWhole(reading));
  } catch (error) {
    if (!deadline.signal.aborted || request.signal.aborted) throw error;
    const message = `${displayUrl(request.origin.endpoint)}: not all pages arrived within ${limits.timeoutMs} ms`;
    throw new Failure('source-too-slow', message, { cause: error, retryable: true });
  } finally {
    deadline.end();
  }
}

/** Returns undefined if everything must be read. */
async function readChanges(reading: ApiReading): Promise<Content | undefined> {
  const { resume, deps } = reading;
  const { since, wholeAt = '' } = resume ?? {};
  if (since === undefined || !(deps.now() - Date.parse(wholeAt) < WHOLE_EVERY_MS)) return undefined;
  const { path, response } = await open(reading, { updated_since: since }, undefined);
  // A registry that does not support the parameter may refuse it.
  if (response.status === 400 || response.status === 422) return undefined;
  const list = await followed(reading, path, response, { updated_since: since });
  const times = list.updatedAt;
  // A registry that ignores the parameter returns everything.
  if (times.some((time) => time < Date.parse(since))) return wholeOf(reading, path, list, {});
  const next = times.length === 0 ? undefined : sinceOf(times);
  return { documents: list.documents, extent: 'changes', resume: { path, wholeAt, since: next ?? since } };
}

async function readWhole(reading: ApiReading): Promise<Content | 'unchanged'> {
  const { resume } = reading;
  // Validators are used only for a list of one page whose entries have no update times.
  const validators = resume?.since === undefined ? resume : undefined;
  const { path, response } = await open(reading, {}, validators);
  if (response.status === 304 && validators !== undefined) return 'unchanged';
  const list = await followed(reading, path, response, {});
  return wholeOf(reading, path, list, list.documents.length === 1 ? validatorsOf(response) : {});
}

function wholeOf({ deps }: ApiReading, path: string, list: List, validators: Resume): Content {
  const since = sinceOf(list.updatedAt);
  const wholeAt = new Date(deps.now()).toISOString();
  return {
    documents: list.documents,
    extent: 'whole',
    format: list.format,
    resume: { path, wholeAt, ...(since === undefined ? validators : { since }) },
  };
}

/** Returns the time for the next read of changes. undefined without entries, or if an entry has no update time. */
function sinceOf(times: readonly number[]): string | undefined {
  const newest = times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return Number.isFinite(newest) ? new Date(newest - OVERLAP_MS).toISOString() : undefined;
}

type Query = Readonly<Record<string, string>>;

/** Requests the first path that exists, beginning with the path of the last read. */
async function open(
  reading: ApiReading,
  query: Query,
  resume: Resume | undefined,
): Promise<{ path: string; response: OutboundResponse }> {
  const known = PATHS.filter((path) => path === reading.resume?.path);
  const tried: string[] = [];
  for (const path of new Set([...known, ...PATHS])) {
    const url = urlOf(reading.origin, path, query);
    const own = path === reading.resume?.path ? resume : undefined;
    const response = await askSource(reading.deps.outbound, {
      url,
      resume: own,
      signal: reading.signal,
      arrived: reading.arrived,
      timeoutMs: reading.limits.pageTimeoutMs,
    });
    if (response.status !== 404) return { path, response };
    tried.push(displayUrl(response.url));
  }
  throw statusFailure(404, tried.join(' and '));
}

function urlOf({ endpoint }: ApiOrigin, path: string, query: Query): string {
  const url = URL.parse(endpoint);
  if (url === null || url.search !== '' || url.hash !== '') {
    throw new Failure(
      'source-not-found',
      `${displayUrl(endpoint)} is not a base URL: it must not have a query or a fragment`,
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.search = new URLSearchParams(query).toString();
  return url.href;
}

interface List extends Pick<Page, 'format' | 'updatedAt'> {
  readonly documents: readonly Document[];
}

/** Reads the page in a response and all later pages. */
async function followed(reading: ApiReading, path: string, first: OutboundResponse, query: Query): Promise<List> {
  const { deps, limits, origin, signal, arrived } = reading;
  const documents: Document[] = [];
  const updatedAt: number[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  for (let response = first; ; ) {
    const document = documentOf(response);
    const page = readPage(document.text);
    documents.push(document);
    for (const time of page.updatedAt) updatedAt.push(time);
    bytes += response.body.length;
    const { nextCursor } = page;
    if (nextCursor === undefined)
      return { documents, updatedAt, format: documents.length === 1 ? page.format : FORMAT_OF_APIS };
    if (cursors.has(nextCursor)) {
      throw new Failure(
        'source-endless',
        `${document.location}: page ${documents.length} leads back to an earlier one`,
      );
    }
    if (bytes > limits.bytes || documents.length >= limits.pages) throw listTooLarge(document.location, limits);
    cursors.add(nextCursor);
    const url = urlOf(origin, path, { ...query, limit: PAGE_SIZE, cursor: nextCursor });
    const before = bytes;
    response = await askSource(deps.outbound, {
      ...{ url, signal, timeoutMs: limits.pageTimeoutMs },
      arrived: (more) => arrived?.(before + more),
    });
  }
}

function listTooLarge(location: string, { bytes, pages }: ApiLimits): Failure {
  const message = `${location}: the list goes on after ${bytes} bytes or ${pages} pages`;
  return new Failure('source-too-large', message, { data: { bytes, pages } });
}
