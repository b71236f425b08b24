// Reads the sync states of sources, and converts rows to states.

import type pg from 'pg';
import type { CatalogueState, SourceState } from '#contracts/catalogue-state.ts';
import type { SourceKey } from '#registry/catalogue/ports.ts';

interface SourceRow {
  readonly source: string;
  readonly phase: SourceState['phase'];
  /**
   * True if a claim is valid by the database's clock, because clocks of replicas differ. The owner of a claim does not
   * read this column.
   */
  readonly claimed?: boolean | null;
  readonly message: string;
  readonly last_attempt: Date | null;
  readonly attempt_count: number;
  readonly last_sync_time: Date | null;
  readonly last_sync_hash: string | null;
  readonly filter_hash: string | null;
  readonly declaration_hash: string | null;
  readonly server_count: number;
  readonly rejected_count: number;
  readonly manual_trigger: string | null;
  /** `bigint`, which pg returns as text. */
  readonly requests: string;
  readonly requests_served: string;
  readonly wanted_trigger: string | null;
  readonly resume: SourceState['resume'] | null;
  readonly empty_since: Date | null;
}

/** Columns of SourceRow, except the phase. */
const STATE_COLUMNS = `message, last_attempt, attempt_count, last_sync_time, last_sync_hash, filter_hash,
  declaration_hash, server_count, rejected_count, manual_trigger, requests, requests_served, wanted_trigger, resume,
  empty_since`;

export async function readStates(client: pg.Client, registry: Omit<SourceKey, 'source'>): Promise<CatalogueState> {
  const { rows } = await client.query<SourceRow>(
    `select source, case when claimed then 'Syncing' else phase end as phase, claimed, ${STATE_COLUMNS}
     from catalogue_source, lateral (select claimed_until > clock_timestamp() as claimed) as live
     where namespace = $1 and registry = $2 order by source`,
    [registry.namespace, registry.registry],
  );
  return Object.fromEntries(rows.map((row) => [row.source, toState(row)]));
}

/** Returns the sources of all registries, sorted. */
export async function readSources(client: pg.Client): Promise<readonly SourceKey[]> {
  const { rows } = await client.query<SourceKey>(
    'select namespace, registry, source from catalogue_source order by namespace, registry, source',
  );
  return rows;
}

/** Returns the recorded state, even if another process has claimed the source. */
export async function readRecordedState(client: pg.Client, key: SourceKey): Promise<SourceState | undefined> {
  const { rows } = await client.query<SourceRow>(
    `select source, phase, ${STATE_COLUMNS} from catalogue_source where namespace = $1 and registry = $2 and source = $3`,
    [key.namespace, key.registry, key.source],
  );
  return rows[0] === undefined ? undefined : toState(rows[0]);
}

function toState(row: SourceRow): SourceState {
  return {
    phase: row.phase,
    message: row.message,
    claimed: row.claimed === true ? true : undefined,
    lastAttempt: row.last_attempt?.toISOString(),
    attemptCount: row.attempt_count,
    lastSyncTime: row.last_sync_time?.toISOString(),
    lastSyncHash: row.last_sync_hash ?? undefined,
    filterHash: row.filter_hash ?? undefined,
    declarationHash: row.declaration_hash ?? undefined,
    serverCount: row.server_count,
    rejectedCount: row.rejected_count,
    trigger: row.manual_trigger ?? undefined,
    requests: row.requests === '0' ? undefined : Number(row.requests),
    requestsServed: row.requests_served === '0' ? undefined : Number(row.requests_served),
    requestedTrigger: row.wanted_trigger ?? undefined,
    resume: row.resume ?? undefined,
    emptySince: row.empty_since?.toISOString(),
  };
}
