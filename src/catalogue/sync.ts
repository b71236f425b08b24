// Brings one source of a registry up to date in the store: when it is due, and what one sync does. Any failure leaves
// the stored entries as they are. Knows nothing about Git, HTTP, clusters or SQL: the ports do.

import type { SourceState } from '../contracts/catalogue-state.ts';
import type { RegistrySource } from '../contracts/registry-source.ts';
import { Failure } from '../std/failure.ts';
import { digest, sha256 } from '../std/hash.ts';
import type { Problem } from '../std/problem.ts';
import { entryFilter } from './filter.ts';
import type { Parsed } from './formats/document.ts';
import { parseRegistry } from './formats/registry.ts';
import type { CatalogueWriter, Content, Hold, Source, SourceKey, Written } from './ports.ts';

export type Decision =
  | {
      readonly due: true;
      readonly reason: 'never-synced' | 'triggered' | 'declaration-changed' | 'retry' | 'interval';
    }
  | {
      readonly due: false;
      /** `once`: only an edit or the manual trigger makes it due again. */
      readonly reason: 'once' | 'interval' | 'backoff';
      /** When it will be due, milliseconds since 1970; absent for `once`. */
      readonly dueAtMs?: number;
    };

export interface SyncPorts {
  readonly source: Source;
  readonly writer: CatalogueWriter;
}

export interface SyncRequest {
  readonly key: SourceKey;
  readonly source: RegistrySource;
  /** As the store has it; undefined for a source that never synced. */
  readonly state: SourceState | undefined;
  /** Value of the `sync-trigger` annotation, where there is one. */
  readonly trigger: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface SyncOutcome {
  readonly key: SourceKey;
  /** `unchanged`: read, and neither content nor filter differ from what is stored. */
  readonly result: 'synced' | 'unchanged' | 'failed';
  /** As it was recorded. */
  readonly state: SourceState;
  /** What the store changed; absent unless `synced`. */
  readonly written?: Written;
  /** Rejected entries, or why the content as a whole was not taken over. */
  readonly problems: readonly Problem[];
  /** Why the source could not be read; only where `failed` and no problem says so. */
  readonly failure?: Failure;
}

/** Counts up where the same content would be read into other entries than before: sources are then read anew. */
const READER_VERSION = 1;
const BACKOFF_FIRST_MS = 10_000;
const BACKOFF_LAST_MS = 15 * 60_000;
/** More broken entries than anybody reads; their number is in the state. */
const MAX_PROBLEMS = 100;

/** Whether the source is to be synced now. Pure. */
export function due(
  source: RegistrySource,
  state: SourceState | undefined,
  trigger: string | undefined,
  nowMs: number,
): Decision {
  const lastMs = Date.parse(state?.lastAttempt ?? '');
  if (state === undefined || Number.isNaN(lastMs)) return { due: true, reason: 'never-synced' };
  if (trigger !== undefined && trigger !== state.trigger) return { due: true, reason: 'triggered' };
  if ((state.requests ?? 0) > (state.requestsServed ?? 0)) return { due: true, reason: 'triggered' };
  if (state.declarationHash !== declarationHash(source)) return { due: true, reason: 'declaration-changed' };
  // A clock that was set back must not put a sync off until it has caught up.
  const elapsedMs = nowMs < lastMs ? Number.POSITIVE_INFINITY : nowMs - lastMs;
  if (state.phase !== 'Complete') {
    const waitMs = backoffMs(state.attemptCount);
    return elapsedMs >= waitMs
      ? { due: true, reason: 'retry' }
      : { due: false, reason: 'backoff', dueAtMs: lastMs + waitMs };
  }
  const { intervalMs } = source;
  if (intervalMs === undefined) return { due: false, reason: 'once' };
  if (elapsedMs >= intervalMs) return { due: true, reason: 'interval' };
  return { due: false, reason: 'interval', dueAtMs: lastMs + intervalMs };
}

/** 10 s after the first failed attempt, then twice as long each time, 15 minutes at most. */
function backoffMs(attempts: number): number {
  return Math.min(BACKOFF_FIRST_MS * 2 ** Math.max(0, attempts - 1), BACKOFF_LAST_MS);
}

/** Changes with whatever makes the same source give other entries. The interval does not. */
export function declarationHash({ origin, format, filter }: RegistrySource): string {
  return digest({ reader: READER_VERSION, origin, format, filter });
}

/**
 * One sync. What is wrong with the source is an outcome, recorded in the store; a Failure is thrown only where the
 * store itself fails, and then nothing changed.
 */
export async function syncSource(ports: SyncPorts, request: SyncRequest): Promise<SyncOutcome> {
  const malformed = entryFilter(request.source.filter).malformed;
  if (malformed.length > 0) return await fail(ports, request, [malformedPatterns(malformed)]);
  let content: Content;
  try {
    content = await ports.source.read(request.source.origin, request.key);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return await fail(ports, request, [], failure);
  }
  const hash = sha256(content.text);
  if (isUnchanged(request, hash)) return await keep(ports, request, content);
  const parsed = parseRegistry(request.source.format, content.text, content.location);
  if (!parsed.ok) return await fail(ports, request, [parsed.problem]);
  if (parsed.entries.length === 0 && parsed.rejected.length > 0) {
    return await fail(ports, request, [nothingValid(content), ...problemsOf(parsed)]);
  }
  return await store(ports, request, parsed, hash);
}

function isUnchanged({ source, state }: SyncRequest, hash: string): boolean {
  return (
    state?.phase === 'Complete' && state.lastSyncHash === hash && state.declarationHash === declarationHash(source)
  );
}

async function store(
  { writer }: SyncPorts,
  request: SyncRequest,
  parsed: Understood,
  hash: string,
): Promise<SyncOutcome> {
  const { key, source } = request;
  const filter = entryFilter(source.filter);
  const entries = parsed.entries.filter((entry) => filter.accepts(entry));
  const rejectedCount = parsed.rejected.length;
  const now = timeOf(request);
  const state: SourceState = {
    ...attempted(request),
    phase: 'Complete',
    message: summary(entries.length, rejectedCount),
    attemptCount: 0,
    lastSyncTime: now,
    lastSyncHash: hash,
    filterHash: digest(source.filter),
    serverCount: entries.length,
    rejectedCount,
  };
  const written = await writer.replace(key, entries, state, now, holdBroken(parsed, filter.acceptsName));
  return { key, result: 'synced', state, written, problems: problemsOf(parsed) };
}

/** Nothing new: only the time of the attempt and the trigger move. Broken entries are still told. */
async function keep({ writer }: SyncPorts, request: SyncRequest, content: Content): Promise<SyncOutcome> {
  const { key, source } = request;
  const state: SourceState = { ...attempted(request), phase: 'Complete', attemptCount: 0 };
  await writer.record(key, state);
  if (state.rejectedCount === 0) return { key, result: 'unchanged', state, problems: [] };
  const parsed = parseRegistry(source.format, content.text, content.location);
  return { key, result: 'unchanged', state, problems: parsed.ok ? problemsOf(parsed) : [parsed.problem] };
}

/** Hash, counts and entries stay as they were; the attempt counts. */
async function fail(
  { writer }: SyncPorts,
  request: SyncRequest,
  problems: readonly Problem[],
  failure?: Failure,
): Promise<SyncOutcome> {
  const { key } = request;
  const before = attempted(request);
  const [problem] = problems;
  const message = failure?.message ?? (problem === undefined ? '' : describe(problem));
  const state: SourceState = { ...before, phase: 'Failed', message, attemptCount: before.attemptCount + 1 };
  await writer.record(key, state);
  return { key, result: 'failed', state, problems, ...(failure === undefined ? {} : { failure }) };
}

/** The state before, with what every attempt records. */
function attempted(request: SyncRequest): SourceState {
  const { source, state, trigger } = request;
  const fresh = { phase: 'Failed', message: '', attemptCount: 0, serverCount: 0, rejectedCount: 0 } as const;
  return {
    ...(state ?? fresh),
    lastAttempt: timeOf(request),
    declarationHash: declarationHash(source),
    ...(trigger === undefined ? {} : { trigger }),
    ...(state?.requests === undefined ? {} : { requestsServed: state.requests }),
  };
}

function timeOf({ now }: SyncRequest): string {
  return new Date(now).toISOString();
}

type Understood = Parsed & { readonly ok: true };

/**
 * What a broken entry stood for stays as it was, unless the filter now keeps its name out; where a broken entry does
 * not tell its name, nothing is removed. A duplicate hides nothing: its first entry is there.
 */
function holdBroken({ rejected }: Understood, acceptsName: Hold): Hold {
  const broken = rejected.filter(({ problem }) => problem.code !== 'registry-entry-duplicate');
  const names = new Set(broken.map(({ name }) => name));
  return (name) => acceptsName(name) && (names.has(undefined) || names.has(name));
}

function problemsOf({ rejected }: Understood): readonly Problem[] {
  return rejected.slice(0, MAX_PROBLEMS).map(({ problem }) => problem);
}

function summary(entries: number, rejected: number): string {
  const served = `${entries} ${entries === 1 ? 'server' : 'servers'}`;
  return rejected === 0 ? served : `${served}; ${rejected} ${rejected === 1 ? 'entry' : 'entries'} rejected`;
}

function malformedPatterns(patterns: readonly string[]): Problem {
  const list = patterns.map((pattern) => JSON.stringify(pattern)).join(', ');
  return {
    code: 'registry-filter-malformed',
    severity: 'error',
    message: `malformed name pattern in the filter: ${list}`,
  };
}

function nothingValid({ location }: Content): Problem {
  const place = { file: location, line: 1, column: 1 };
  return { code: 'registry-nothing-valid', severity: 'error', message: 'not one entry is valid', place };
}

function describe({ message, place }: Problem): string {
  return place === undefined ? message : `${place.file}:${place.line}:${place.column}: ${message}`;
}
