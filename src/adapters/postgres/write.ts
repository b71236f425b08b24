// Changes the catalogue. `lockSource`, `writeState` and `writeChange` must be called inside a transaction.

import type pg from 'pg';
import type { SourceState } from '#contracts/catalogue-state.ts';
import type { SourceKey } from '#registry/catalogue/ports.ts';
import type { SourceChange, Stored, VersionRow } from './change.ts';
import { IS_LATEST, milliseconds, readRows, remembered, timeFrom } from './rows.ts';

/** Rows per statement: large enough for speed, small enough for one message. */
const BATCH = 500;

/** Locks the source until the end of the transaction, so that its writers take turns. */
export async function lockSource(client: pg.Client, key: SourceKey): Promise<void> {
  const name = JSON.stringify(['skep', key.namespace, key.registry, key.source]);
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}

/** Stores the state. Increments the revision if the content changed. Returns the source's id. */
export async function writeState(
  client: pg.Client,
  key: SourceKey,
  state: SourceState,
  changed: boolean,
): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `insert into catalogue_source as s (namespace, registry, source, phase, message, last_attempt, attempt_count,
       last_sync_time, last_sync_hash, filter_hash, declaration_hash, server_count, rejected_count, manual_trigger,
       requests_served, resume, empty_since)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $16, $17, $18)
     on conflict (namespace, registry, source) do update set
       phase = excluded.phase, message = excluded.message, last_attempt = excluded.last_attempt,
       attempt_count = excluded.attempt_count, last_sync_time = excluded.last_sync_time,
       last_sync_hash = excluded.last_sync_hash, filter_hash = excluded.filter_hash,
       declaration_hash = excluded.declaration_hash, server_count = excluded.server_count,
       rejected_count = excluded.rejected_count, manual_trigger = excluded.manual_trigger,
       requests_served = excluded.requests_served, resume = excluded.resume, revision = s.revision + $15,
       edition = case when $15 = 0 then s.edition else gen_random_uuid() end, empty_since = excluded.empty_since
     returning id`,
    [
      key.namespace,
      key.registry,
      key.source,
      state.phase,
      storable(state.message),
      state.lastAttempt,
      state.attemptCount,
      state.lastSyncTime,
      state.lastSyncHash,
      state.filterHash,
      state.declarationHash,
      state.serverCount,
      state.rejectedCount,
      state.trigger === undefined ? null : storable(state.trigger),
      changed ? 1 : 0,
      state.requestsServed ?? 0,
      state.resume === undefined ? null : storable(JSON.stringify(state.resume)),
      state.emptySince,
    ],
  );
  return rows[0]?.id ?? '';
}

/** Increments in one statement, so that concurrent requests of several replicas are all counted. */
export async function countRequest(client: pg.Client, key: SourceKey): Promise<void> {
  await client.query(
    'update catalogue_source set requests = requests + 1 where namespace = $1 and registry = $2 and source = $3',
    [key.namespace, key.registry, key.source],
  );
}

/** Stores the value of the manual trigger, even for a source that never synced. */
export async function writeTrigger(client: pg.Client, key: SourceKey, trigger: string): Promise<void> {
  await client.query(
    `insert into catalogue_source as s (namespace, registry, source, phase, message, attempt_count, server_count,
       rejected_count, wanted_trigger)
     values ($1, $2, $3, 'Syncing', '', 0, 0, 0, $4)
     on conflict (namespace, registry, source) do update set wanted_trigger = excluded.wanted_trigger
     where s.wanted_trigger is distinct from excluded.wanted_trigger`,
    [key.namespace, key.registry, key.source, storable(trigger)],
  );
}

/** Returns all versions of a source, including tombstones, with the fields that are compared. */
export async function readStored(client: pg.Client, key: SourceKey): Promise<readonly Stored[]> {
  const rows = await readRows(
    client,
    'stored',
    `select e.name, e.version, e.status, e.content_hash, e.text_hash, ${milliseconds('e.published_at')},
       e.upstream_latest, ${IS_LATEST}
     from catalogue_entry e join catalogue_source s on s.id = e.source_id
     where s.namespace = $1 and s.registry = $2 and s.source = $3`,
    [key.namespace, key.registry, key.source],
  );
  const timeOf = remembered(timeFrom);
  return rows.map(([name, version, status, contentHash, textHash, publishedAt, upstreamLatest, isLatest]) => ({
    name: name ?? '',
    version: version ?? '',
    status: status as Stored['status'],
    contentHash: contentHash ?? '',
    textHash: textHash ?? '',
    publishedAt: timeOf(publishedAt ?? ''),
    upstreamLatest: upstreamLatest === null ? undefined : upstreamLatest === 't',
    isLatest: isLatest === 't',
  }));
}

/** Assumed milliseconds per row for updating the times after a write. */
const RESTAMP_MS = 0.1;

/**
 * Writes the change. The time of the change is later than all stored times, even if clocks of instances differ. A
 * reader that requests changes since the latest time that it received therefore misses no change. The stored time is
 * the end of the write, when readers begin to see the change. A reader that requests changes since the time of its last
 * request therefore misses no change.
 */
export async function writeChange(
  client: pg.Client,
  sourceId: string,
  change: SourceChange,
  now: () => string,
): Promise<void> {
  const at = await laterThanAll(client, sourceId, now());
  await writeRows(client, sourceId, change, at);
  const end = Date.parse(now());
  if (end <= Date.parse(at)) return;
  const rows = change.upserts.length + change.retired.length + change.flips.length;
  const later = new Date(end + Math.floor(rows * RESTAMP_MS)).toISOString();
  await client.query(
    `update catalogue_entry set updated_at = $3,
       status_changed_at = case when status_changed_at = $2 then $3 else status_changed_at end
     where source_id = $1 and updated_at = $2`,
    [sourceId, at, later],
  );
}

async function laterThanAll(client: pg.Client, sourceId: string, now: string): Promise<string> {
  const { rows } = await client.query<{ at: Date }>(
    `select greatest($2::timestamptz, max(updated_at) + interval '1 millisecond') as at
     from catalogue_entry where source_id = $1`,
    [sourceId, now],
  );
  return rows[0]?.at.toISOString() ?? now;
}

async function writeRows(client: pg.Client, sourceId: string, change: SourceChange, at: string): Promise<void> {
  // Removes the latest flag from old versions before new versions get it, so that a server never has two latest
  // versions.
  await retire(client, sourceId, change, at);
  await flip(client, sourceId, change, false, at);
  const demoted = change.upserts.filter(({ isLatest }) => !isLatest);
  const promoted = change.upserts.filter(({ isLatest }) => isLatest);
  await upsert(client, sourceId, demoted, at);
  await upsert(client, sourceId, promoted, at);
  await flip(client, sourceId, change, true, at);
}

async function retire(client: pg.Client, sourceId: string, { retired }: SourceChange, at: string): Promise<void> {
  for (const batch of batches(retired)) {
    await client.query(
      `update catalogue_entry e set status = 'deleted', was_latest = is_latest, is_latest = false, updated_at = $2, status_changed_at = $2,
         status_message = null
       from unnest($3::text[], $4::text[]) as gone(name, version)
       where e.source_id = $1 and e.name = gone.name and e.version = gone.version`,
      [sourceId, at, batch.map(({ name }) => name), batch.map(({ version }) => version)],
    );
  }
}

async function flip(client: pg.Client, sourceId: string, { flips }: SourceChange, isLatest: boolean, at: string) {
  for (const batch of batches(flips.filter((each) => each.isLatest === isLatest))) {
    await client.query(
      `update catalogue_entry e set is_latest = $5 and status <> 'deleted', was_latest = $5 and status = 'deleted',
         updated_at = $2
       from unnest($3::text[], $4::text[]) as kept(name, version)
       where e.source_id = $1 and e.name = kept.name and e.version = kept.version`,
      [sourceId, at, batch.map(({ name }) => name), batch.map(({ version }) => version), isLatest],
    );
  }
}

async function upsert(client: pg.Client, sourceId: string, rows: readonly VersionRow[], at: string): Promise<void> {
  for (const batch of batches(rows)) await client.query(UPSERT, [sourceId, at, ...columnsOf(batch)]);
}

/** Lists in a row are passed as texts, because unnest would flatten arrays of arrays. */
const UPSERT = `
  insert into catalogue_entry (source_id, updated_at, name, version, document, title, description, tags, status, tier,
    transports, images, upstream_latest, is_latest, was_latest, published_at, content_hash, text_hash, status_message,
    status_changed_at)
  select $1, $2, u.name, u.version, u.document::json, u.title, u.description,
    u.tags::text[], u.status, u.tier, u.transports::text[], u.images::text[], u.upstream_latest, u.is_latest and u.status <> 'deleted',
    u.is_latest and u.status = 'deleted', u.published_at, u.content_hash, u.text_hash, u.status_message, u.status_changed_at
  from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
    $11::text[], $12::text[], $13::boolean[], $14::boolean[], $15::timestamptz[], $16::text[], $17::text[],
    $18::text[], $19::timestamptz[])
    as u(name, version, document, title, description, tags, status, tier, transports, images, upstream_latest,
      is_latest, published_at, content_hash, text_hash, status_message, status_changed_at)
  on conflict (source_id, name, version) do update set
    updated_at = excluded.updated_at, document = excluded.document, title = excluded.title,
    description = excluded.description, tags = excluded.tags, status = excluded.status, tier = excluded.tier,
    transports = excluded.transports, images = excluded.images, upstream_latest = excluded.upstream_latest,
    is_latest = excluded.is_latest, was_latest = excluded.was_latest, published_at = excluded.published_at, content_hash = excluded.content_hash,
    text_hash = excluded.text_hash, status_message = excluded.status_message,
    status_changed_at = coalesce(excluded.status_changed_at,
      case when catalogue_entry.status = excluded.status then catalogue_entry.status_changed_at
      else excluded.updated_at end)`;

/** Returns the parameters 3 to 19 of UPSERT, one array per column. */
function columnsOf(rows: readonly VersionRow[]): unknown[][] {
  return [
    rows.map(({ entry }) => entry.name),
    rows.map(({ entry }) => entry.version),
    rows.map(({ entry }) => JSON.stringify(entry.document)),
    rows.map(({ entry }) => entry.title ?? null),
    rows.map(({ entry }) => entry.description),
    rows.map(({ entry }) => listText(entry.tags)),
    rows.map(({ entry }) => entry.status),
    rows.map(({ entry }) => entry.tier ?? null),
    rows.map(({ entry }) => listText(entry.transports)),
    rows.map(({ entry }) => listText(entry.images)),
    rows.map(({ entry }) => entry.isLatest ?? null),
    rows.map(({ isLatest }) => isLatest),
    rows.map(({ publishedAt }) => publishedAt),
    rows.map(({ contentHash }) => contentHash),
    rows.map(({ textHash }) => textHash),
    rows.map(({ entry }) => entry.statusMessage ?? null),
    rows.map(({ entry }) => entry.statusChangedAt ?? null),
  ];
}

/** Formats an array as text (PostgreSQL manual, 8.15.6). */
function listText(items: readonly string[]): string {
  return `{${items.map((item) => `"${storable(item).replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Replaces NUL, the only character that PostgreSQL cannot store in a text. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += BATCH) yield items.slice(at, at + BATCH);
}
