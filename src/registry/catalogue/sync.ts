// Syncs one registry source into the store. A failed sync leaves the stored entries unchanged.

import type { SourceState } from '#contracts/catalogue-state.ts';
import type { Origin } from '#contracts/registry/source.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { Problem } from '#std/problem.ts';
import { declarationHash, isTriggered } from './due.ts';
import type { CatalogueEntry } from './entry.ts';
import { type EntryFilter, entryFilter, keptNothing } from './filter.ts';
import type { ParsedDocument } from './formats/document.ts';
import { parseDocuments } from './formats/registry.ts';
import type { Content, Hold, ReadRequest, SourceKey, SourceReader, SourceWriter, WriteCounts } from './ports.ts';
import { emptyState, failedState, keptState, type SyncAttempt, syncedState, timeOf } from './sync-state.ts';

export interface SyncPorts<O = Origin> {
  readonly source: SourceReader<O>;
  readonly writer: SourceWriter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface SyncRequest<O = Origin> extends SyncAttempt<O> {
  readonly key: SourceKey;
  /** Aborted if the sync must be given up. Nothing is recorded then. */
  readonly signal: AbortSignal;
}

export interface SyncOutcome {
  readonly key: SourceKey;
  /** `unchanged`: content and filter have not changed, or the source is temporarily empty. */
  readonly result: 'synced' | 'unchanged' | 'failed';
  /** The recorded state. */
  readonly state: SourceState;
  /** Numbers of changed rows. Set if `synced`. */
  readonly written?: WriteCounts;
  /** Rejected entries, or why the content was not stored. */
  readonly problems: readonly Problem[];
  /** Why the source could not be read or stored. Set only if `failed`. */
  readonly failure?: Failure;
}

/** Maximum number of reported broken entries. The state contains their total number. */
const MAX_PROBLEMS = 100;

/**
 * Syncs once. Records faults of the source in the store and in the outcome. Throws a Failure only if the store fails or
 * the sync was given up. In these cases, nothing has changed.
 */
export async function syncSource<O>(ports: SyncPorts<O>, request: SyncRequest<O>): Promise<SyncOutcome> {
  const malformed = entryFilter(request.source.filter).malformed;
  if (malformed.length > 0) return await recordFailure(ports, request, [malformedPatterns(malformed)]);
  let content: Content | 'unchanged';
  try {
    content = await ports.source.read(readRequest(request));
  } catch (failure) {
    if (!(failure instanceof Failure) || request.signal.aborted) throw failure;
    return await recordFailure(ports, request, [], failure);
  }
  return content === 'unchanged' ? await recordAttempt(ports, request, {}) : await takeOver(ports, request, content);
}

/** After a manual trigger or a changed declaration, requests the whole content. */
function readRequest<O>({ source, key, state, trigger, signal }: SyncRequest<O>): ReadRequest<O> {
  const { origin } = source;
  const { declaration, ...resume } = state?.resume ?? {};
  const anew = state === undefined || isTriggered(state, trigger) || declaration !== declarationHash(source);
  return { origin, key, signal, resume: anew ? undefined : resume };
}

async function takeOver<O>(ports: SyncPorts<O>, request: SyncRequest<O>, content: Content): Promise<SyncOutcome> {
  const { source } = request;
  const hash = hashOf(content);
  const same = content.extent === 'whole' && isSame(request, hash);
  // Broken entries are reported at each read. Without broken entries, equal content need not be parsed.
  if (same && request.state?.rejectedCount === 0) return await recordAttempt(ports, request, { content });
  const parsed = parseDocuments(content.format ?? source.format, content.documents);
  if (!parsed.ok) return await recordFailure(ports, request, [parsed.problem]);
  const read = { content, parsed, hash };
  if (same) return await recordAttempt(ports, request, read);
  if (content.extent === 'changes') return await storeOrTell(ports, request, () => storeChanges(ports, request, read));
  if (parsed.entries.length === 0 && parsed.rejected.length > 0) {
    return await recordFailure(ports, request, [nothingValid(content), ...problemsOf(parsed)]);
  }
  return await storeOrTell(ports, request, () => storeWhole(ports, request, read));
}

/** Stores the content. Records a failed attempt if the store permanently refuses it. Throws other Failures. */
async function storeOrTell<O>(
  ports: SyncPorts<O>,
  request: SyncRequest<O>,
  store: () => Promise<SyncOutcome>,
): Promise<SyncOutcome> {
  try {
    return await store();
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.retryable || request.signal.aborted) throw failure;
    return await recordFailure(ports, request, [], failure);
  }
}

/** Returns whether the content is stored already, and the declaration was the same. */
function isSame<O>({ source, state }: SyncRequest<O>, hash: string): boolean {
  const complete = state?.phase === 'Complete' && state.lastSyncHash === hash;
  return complete && state.declarationHash === declarationHash(source);
}

interface ParsedContent {
  readonly content: Content;
  readonly parsed: Understood;
  /** SHA-256 of the text, or of all texts together. */
  readonly hash: string;
}

function hashOf({ documents }: Content): string {
  const hashes = documents.map(({ text }) => sha256(text));
  const [only, ...more] = hashes;
  return only !== undefined && more.length === 0 ? only : sha256(hashes.join('\n'));
}

async function storeWhole<O>(
  { writer, now }: SyncPorts<O>,
  request: SyncRequest<O>,
  read: ParsedContent,
): Promise<SyncOutcome> {
  const { key, source } = request;
  const { content, parsed, hash } = read;
  const filter = entryFilter(source.filter);
  const entries = parsed.entries.filter((entry) => filter.accepts(entry));
  const note = keptNothing(filter, parsed.entries);
  const warnings = note === undefined ? [] : [filterKeepsNothing(content, note)];
  const emptySince = entries.length === 0 ? waitingSince(request) : undefined;
  if (emptySince !== undefined) {
    const state = emptyState(request, emptySince, note);
    await writer.record(key, state);
    return { key, result: 'unchanged', state, problems: warnings };
  }
  const stateOf = (written: WriteCounts) =>
    syncedState(request, content, { entries, written, hash, rejected: parsed.rejected.length, note });
  const written = await writer.replace(key, entries, stateOf, () => timeOf(now()), holdBroken(parsed, filter));
  return { key, result: 'synced', state: stateOf(written), written, problems: [...warnings, ...problemsOf(parsed)] };
}

/**
 * Returns since when the source is empty, or undefined if no servers need to be kept. A file may be empty while it is
 * written, so servers are deleted only by a second empty read after the interval, or by a sync that a user requested.
 */
function waitingSince<O>({ source, state, trigger, now }: SyncRequest<O>): string | undefined {
  if (state === undefined || state.serverCount === 0 || isTriggered(state, trigger)) return undefined;
  const since = state.emptySince ?? timeOf(now);
  const isSecond = state.emptySince !== undefined && source.intervalMs !== undefined;
  return isSecond && now - Date.parse(since) >= source.intervalMs ? undefined : since;
}

/** Stores changes. Entries without a change stay, unless the filter now excludes them. */
async function storeChanges<O>(
  { writer, now }: SyncPorts<O>,
  request: SyncRequest<O>,
  read: ParsedContent,
): Promise<SyncOutcome> {
  const { key, source, state: before } = request;
  const { content, parsed, hash } = read;
  const filter = entryFilter(source.filter);
  const entries = parsed.entries.filter((entry) => filter.accepts(entry));
  const left = new Set(parsed.entries.filter((entry) => !filter.accepts(entry)).map(versionKey));
  const stateOf = (written: WriteCounts) => {
    const lastSyncHash = hasWritten(written) ? sha256(`${before?.lastSyncHash} ${hash}`) : before?.lastSyncHash;
    // Unchanged entries may still be broken. The next complete read counts them again.
    const rejected = Math.max(before?.rejectedCount ?? 0, parsed.rejected.length);
    return syncedState(request, content, { entries, written, hash: lastSyncHash ?? hash, rejected });
  };
  const hold: Hold = (name, version) => !left.has(versionKey({ name, version }));
  const written = await writer.replace(key, entries, stateOf, () => timeOf(now()), hold);
  const reported = { key, state: stateOf(written), problems: problemsOf(parsed) };
  return hasWritten(written) ? { ...reported, result: 'synced', written } : { ...reported, result: 'unchanged' };
}

function hasWritten({ created, updated, removed }: WriteCounts): boolean {
  return created + updated + removed > 0;
}

/** Unique, because names and versions contain no blanks. */
function versionKey({ name, version }: Pick<CatalogueEntry, 'name' | 'version'>): string {
  return `${name} ${version}`;
}

/** Records an attempt that found no news. Reports broken entries if the content was parsed. */
async function recordAttempt<O>(
  { writer }: SyncPorts<O>,
  request: SyncRequest<O>,
  { content, parsed }: Partial<ParsedContent>,
): Promise<SyncOutcome> {
  const { key } = request;
  const state = keptState(request, content);
  await writer.record(key, state);
  return { key, result: 'unchanged', state, problems: parsed === undefined ? [] : problemsOf(parsed) };
}

/** Records a failed attempt. Hash, counts and entries stay. The attempt count grows. */
async function recordFailure<O>(
  { writer }: SyncPorts<O>,
  request: SyncRequest<O>,
  problems: readonly Problem[],
  failure?: Failure,
): Promise<SyncOutcome> {
  const { key } = request;
  const [problem] = problems;
  const state = failedState(request, failure?.message ?? (problem === undefined ? '' : describe(problem)));
  await writer.record(key, state);
  return { key, result: 'failed', state, problems, failure };
}

type Understood = ParsedDocument & { readonly ok: true };

/**
 * Keeps the stored version of a broken entry, unless the filter excludes its name. If a broken entry has no readable
 * name, keeps all versions. A duplicate has no effect, because the first entry with its name is served.
 */
function holdBroken({ rejected }: Understood, filter: EntryFilter): Hold {
  const broken = rejected.filter(({ problem }) => problem.code !== 'registry-entry-duplicate');
  const names = new Set(broken.map(({ name }) => name));
  return (name) => filter.acceptsName(name) && (names.has(undefined) || names.has(name));
}

function problemsOf({ rejected }: Understood): readonly Problem[] {
  return rejected.slice(0, MAX_PROBLEMS).map(({ problem }) => problem);
}

function malformedPatterns(patterns: readonly string[]): Problem {
  const list = patterns.map((pattern) => JSON.stringify(pattern)).join(', ');
  return {
    code: 'registry-filter-malformed',
    severity: 'error',
    message: `malformed name pattern in the filter: ${list}`,
  };
}

function filterKeepsNothing({ documents }: Content, message: string): Problem {
  const place = { file: documents[0]?.location ?? '', line: 1, column: 1 };
  return { code: 'registry-filter-keeps-nothing', severity: 'warning', message, place };
}

function nothingValid({ documents }: Content): Problem {
  const place = { file: documents[0]?.location ?? '', line: 1, column: 1 };
  return { code: 'registry-nothing-valid', severity: 'error', message: 'not one entry is valid', place };
}

function describe({ message, place }: Problem): string {
  return place === undefined ? message : `${place.file}:${place.line}:${place.column}: ${message}`;
}
