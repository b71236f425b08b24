// Decides which process syncs a source. A claim is a token with an expiry in the source's row. A timer renews the claim
// while the process runs. Times are from the database server, because clocks of replicas may differ.

import type pg from 'pg';
import type { Claim, SourceKey, SourceWriter } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Pool } from './pool.ts';
import { readRecordedState } from './states.ts';

/** Lifetime in milliseconds of a claim that is not renewed, for example because its process has died. */
const CLAIM_MS = 60_000;

/**
 * Returns a writer that works under a claim. In each transaction, the writer locks the source and then calls `fence`,
 * which throws if the claim is lost.
 */
export type Fenced = (fence: (client: pg.Client) => Promise<void>) => SourceWriter;

/** Claims a source. undefined if another process has claimed it. */
export async function claimSource(
  pool: Pool,
  key: SourceKey,
  fenced: Fenced,
  claimMs = CLAIM_MS,
): Promise<Claim | undefined> {
  const taken = await pool.transaction(async (client) => {
    const token = await takeClaim(client, key, claimMs);
    const state = token === undefined ? undefined : await readRecordedState(client, key);
    return token === undefined || state === undefined ? undefined : { token, state };
  });
  if (taken === undefined) return undefined;
  const { token, state } = taken;
  const lost = new AbortController();
  const stopRenewing = keepUp(pool, key, token, claimMs, lost);
  const writer = fenced((client) => end(client, key, token));
  return {
    state,
    signal: lost.signal,
    replace: (...write) => {
      stopRenewing();
      return writer.replace(...write);
    },
    record: (...write) => {
      stopRenewing();
      return writer.record(...write);
    },
    release: () => {
      stopRenewing();
      return pool.use(async (client) => {
        await client.query(`update ${FREE} where ${OWN}`, [...valuesOf(key), token]);
      });
    },
  };
}

const OWN = 'namespace = $1 and registry = $2 and source = $3 and claim = $4';
const FREE = 'catalogue_source set claim = null, claimed_until = null';

/** Returns the token of a new claim. undefined if the source is claimed. */
async function takeClaim(client: pg.Client, key: SourceKey, claimMs: number): Promise<string | undefined> {
  const { rows } = await client.query<{ claim: string }>(
    `insert into catalogue_source as s (namespace, registry, source, phase, message, attempt_count, server_count,
       rejected_count, claim, claimed_until)
     values ($1, $2, $3, 'Syncing', '', 0, 0, 0, gen_random_uuid(), clock_timestamp() + $4 * interval '1 ms')
     on conflict (namespace, registry, source) do update set
       claim = excluded.claim, claimed_until = excluded.claimed_until
     where s.claimed_until is null or s.claimed_until < clock_timestamp()
     returning claim`,
    [...valuesOf(key), claimMs],
  );
  return rows[0]?.claim;
}

/**
 * Ends the claim in the transaction that writes the result of the sync. Throws if another process has claimed the
 * source. An expired claim is still valid.
 */
async function end(client: pg.Client, key: SourceKey, token: string): Promise<void> {
  const { rowCount } = await client.query(`update ${FREE} where ${OWN}`, [...valuesOf(key), token]);
  if (rowCount === 0) throw claimLost(key);
}

/**
 * Renews the claim regularly. A failed renewal is repeated. The claim is lost if a renewal finds another token, or if
 * no renewal succeeds before the expiry.
 */
function keepUp(pool: Pool, key: SourceKey, token: string, claimMs: number, lost: AbortController): () => void {
  let renewedAt = performance.now();
  let stopped = false;
  function giveUp(): void {
    stop();
    lost.abort(claimLost(key));
  }
  async function renew(): Promise<void> {
    const startedAt = performance.now();
    try {
      const renewed = await pool.use((client) =>
        client.query(
          `update catalogue_source set claimed_until = clock_timestamp() + $5 * interval '1 ms' where ${OWN}`,
          [...valuesOf(key), token, claimMs],
        ),
      );
      if (renewed.rowCount === 0 && !stopped) return giveUp();
      renewedAt = startedAt;
    } catch (failure) {
      // The next renewal tries again. The expiry is checked below.
      if (!(failure instanceof Failure)) throw failure;
    }
    if (!stopped && performance.now() - renewedAt > claimMs) giveUp();
  }
  const timer = setInterval(() => void renew(), claimMs / 3);
  timer.unref();
  function stop(): void {
    stopped = true;
    clearInterval(timer);
  }
  return stop;
}

function valuesOf({ namespace, registry, source }: SourceKey): string[] {
  return [namespace, registry, source];
}

function claimLost({ namespace, registry, source }: SourceKey): Failure {
  const message = `${namespace}/${registry}/${source}: another process syncs it now; the content that was read is not stored`;
  return new Failure('catalogue-claim-lost', message, { retryable: true });
}
