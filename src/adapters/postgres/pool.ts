// Shares a few connections, with limits for open connections, idle connections and their age. Replaces pg's own pool,
// which cannot limit idle connections and cannot choose between TLS and plain text for each connection (sslMode prefer
// and allow).

import type pg from 'pg';
import { DATABASE_DEFAULTS } from '#contracts/database-fields.ts';
import { Failure } from '#std/failure.ts';
import { connect, type DatabaseAddress, type OpenConnection } from './connect.ts';
import { databaseFailure, describePlace, isTransient } from './failure.ts';

export interface DatabaseSettings extends DatabaseAddress {
  /** Maximum number of connections. Default: 10. */
  readonly maxOpenConns?: number;
  /** Maximum number of idle connections. Default: 2. */
  readonly maxIdleConns?: number;
  /** Age in milliseconds after which a connection is closed when it becomes free. Default: 30 minutes. */
  readonly connMaxLifetimeMs?: number;
  /** Milliseconds for which a caller waits for a free connection. Default: 10 s. */
  readonly acquireTimeoutMs?: number;
}

export interface Pool {
  readonly place: string;
  /** Calls `work` with a connection. Converts its errors to Failures. */
  use<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Calls `work` in a transaction. Repeats it after a serialization failure or deadlock. */
  transaction<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Calls `work` in a read-only transaction that sees one snapshot of the database. */
  snapshot<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Returns the number of open connections, including connections in use. */
  open(): number;
  /** Waits for running work. Later calls fail. */
  close(): Promise<void>;
}

interface Connection extends OpenConnection {
  readonly openedAtMs: number;
  broken: boolean;
}

interface Waiter {
  /** Receives a connection. undefined means that the waiter may open a new connection. */
  take(connection: Connection | undefined): void;
  refuse(failure: Failure): void;
}

interface PoolState {
  readonly settings: DatabaseSettings;
  readonly idle: Connection[];
  readonly waiters: Waiter[];
  /** Number of connections that are open or being opened. */
  open: number;
  /** Time of the last opening of a connection beyond the idle limit. */
  grownAtMs: number;
  closed: boolean;
  onEmpty: () => void;
}

/** Default of `connMaxLifetimeMs`. */
const MAX_LIFETIME_MS = 30 * 60_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
/**
 * Milliseconds for which a caller waits before it opens a connection beyond the idle limit. Opening costs much more
 * than reading a page, and the connection is closed again when no caller waits for it.
 */
const GROW_AFTER_MS = 25;
/**
 * Minimum interval in milliseconds between two openings beyond the idle limit. On a busy machine, more logins would
 * slow down the work itself.
 */
const GROW_EVERY_MS = 100;
const MAX_RUNS = 5;

/** Opens no connection before the first call of a method. */
export function openPool(settings: DatabaseSettings): Pool {
  const state: PoolState = {
    settings,
    idle: [],
    waiters: [],
    open: 0,
    grownAtMs: 0,
    closed: false,
    onEmpty: () => undefined,
  };

  async function use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const connection = await acquire(state);
    try {
      return await work(connection.client);
    } catch (error) {
      const failure = databaseFailure(error, settings);
      // After a lost connection, it is unknown whether the server still executes the statement.
      if (failure.code === 'database-unreachable') connection.broken = true;
      throw failure;
    } finally {
      release(state, connection);
    }
  }

  return {
    place: describePlace(settings),
    use,
    transaction: (work) => use((client) => transact(client, 'begin', work)),
    snapshot: (work) => use((client) => transact(client, 'begin isolation level repeatable read read only', work)),
    open: () => state.open,
    close: () => close(state),
  };
}

async function transact<T>(client: pg.Client, begin: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  for (let run = 1; ; run += 1) {
    await client.query(begin);
    try {
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      // A lost connection cannot roll back. The server then rolls back itself. The first error is reported.
      await client.query('rollback').catch(() => undefined);
      if (!isTransient(error) || run === MAX_RUNS) throw error;
    }
  }
}

async function acquire(state: PoolState): Promise<Connection> {
  const { settings } = state;
  if (state.closed) throw new Failure('database-unreachable', `${describePlace(settings)}: the pool is closed`);
  for (let free = state.idle.pop(); free !== undefined; free = state.idle.pop()) {
    if (isFit(state, free)) return free;
    discard(state, free);
  }
  const mayGrow = state.open === 0 || state.open < idleMax(state);
  if (isFull(state) || !mayGrow) return (await wait(state)) ?? (await openConnection(state));
  state.open += 1;
  return await openConnection(state);
}

function isFull({ open, settings }: PoolState): boolean {
  return open >= (settings.maxOpenConns ?? DATABASE_DEFAULTS.maxOpenConns);
}

function idleMax({ settings }: PoolState): number {
  return settings.maxIdleConns ?? DATABASE_DEFAULTS.maxIdleConns;
}

/** Opens a connection that `state.open` already includes. */
async function openConnection(state: PoolState): Promise<Connection> {
  try {
    const opened = await connect(state.settings);
    const connection: Connection = { ...opened, openedAtMs: performance.now(), broken: false };
    function onLost(): void {
      connection.broken = true;
    }
    opened.client.on('error', onLost).on('end', onLost);
    return connection;
  } catch (error) {
    forget(state);
    throw error;
  }
}

/**
 * Resolves with a free connection. Resolves with undefined if none becomes free soon and the caller may open a new
 * connection.
 */
function wait(state: PoolState): Promise<Connection | undefined> {
  const { settings } = state;
  const timeoutMs = settings.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    const waiter: Waiter = {
      take(connection) {
        stopTimers();
        resolve(connection);
      },
      refuse(failure) {
        stopTimers();
        reject(failure);
      },
    };
    function leave(): void {
      state.waiters.splice(state.waiters.indexOf(waiter), 1);
    }
    function growOrWait(): void {
      const waitMs = state.grownAtMs + GROW_EVERY_MS - performance.now();
      if (waitMs > 0 || isFull(state)) {
        grow = setTimeout(growOrWait, Math.max(GROW_AFTER_MS, waitMs));
        return;
      }
      leave();
      state.open += 1;
      state.grownAtMs = performance.now();
      waiter.take(undefined);
    }
    let grow = setTimeout(growOrWait, GROW_AFTER_MS);
    const late = setTimeout(() => {
      leave();
      const message = `${describePlace(settings)}: no connection became free within ${timeoutMs} ms`;
      waiter.refuse(new Failure('database-busy', message, { retryable: true }));
    }, timeoutMs);
    function stopTimers(): void {
      clearTimeout(grow);
      clearTimeout(late);
    }
    state.waiters.push(waiter);
  });
}

function release(state: PoolState, connection: Connection): void {
  const waiter = isFit(state, connection) ? state.waiters.shift() : undefined;
  const full = state.idle.length >= idleMax(state);
  if (waiter !== undefined) waiter.take(connection);
  else if (!isFit(state, connection) || state.closed || full) discard(state, connection);
  else state.idle.push(connection);
}

function isFit({ settings }: PoolState, { broken, openedAtMs }: Connection): boolean {
  return !broken && performance.now() - openedAtMs < (settings.connMaxLifetimeMs ?? MAX_LIFETIME_MS);
}

function discard(state: PoolState, { client, destroy, broken }: Connection): void {
  if (broken) destroy();
  else client.end().catch(destroy);
  forget(state);
}

/** Removes a connection from the count. If a caller waits, the caller may open a new connection instead. */
function forget(state: PoolState): void {
  const waiter = state.waiters.shift();
  if (waiter !== undefined) {
    waiter.take(undefined);
    return;
  }
  state.open -= 1;
  if (state.open === 0) state.onEmpty();
}

async function close(state: PoolState): Promise<void> {
  state.closed = true;
  for (const connection of state.idle.splice(0)) discard(state, connection);
  if (state.open > 0) {
    await new Promise<void>((resolve) => {
      state.onEmpty = resolve;
    });
  }
}
