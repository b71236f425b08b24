// Shares a few connections, with limits for open connections, idle connections and their age. It replaces pg's own
// pool, because each new connection chooses between TLS and plain text (sslMode prefer and allow), and because pg's
// pool cannot limit idle connections.

import type pg from 'pg';
import { DATABASE_DEFAULTS } from '#contracts/database-fields.ts';
import { Failure } from '#std/failure.ts';
import { connect, type DatabaseAddress, type OpenConnection } from './connect.ts';
import { databaseFailure, describePlace, isTransient } from './failure.ts';

export interface DatabaseSettings extends DatabaseAddress {
  /** Connections at the same time; default 10. */
  readonly maxOpenConns?: number;
  /** Connections that stay open unused; default 2. */
  readonly maxIdleConns?: number;
  /** Older connections are closed when they are next free; default 30 minutes. */
  readonly connMaxLifetimeMs?: number;
  /** How long a caller waits for a free connection; default 10 s. */
  readonly acquireTimeoutMs?: number;
}

export interface Pool {
  readonly place: string;
  /** Runs the work on one connection. Any error of it becomes a Failure. */
  use<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Runs the work in a transaction, again after a serialization failure or a deadlock. */
  transaction<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Reads within one snapshot of the database. */
  snapshot<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Connections that are open now, those in use included. */
  open(): number;
  /** Waits for the work under way. Afterwards the pool returns no connections. */
  close(): Promise<void>;
}

interface Connection extends OpenConnection {
  readonly openedAtMs: number;
  broken: boolean;
}

interface Waiter {
  /** Receives a connection, or undefined if the waiter may open a new connection. */
  take(connection: Connection | undefined): void;
  refuse(failure: Failure): void;
}

interface State {
  readonly settings: DatabaseSettings;
  readonly idle: Connection[];
  readonly waiters: Waiter[];
  /** Connections that are open or being opened. */
  open: number;
  /** Time at which a connection beyond the idle limit was opened last. */
  grownAtMs: number;
  closed: boolean;
  onEmpty: () => void;
}

/** Default of connMaxLifetime. */
const MAX_LIFETIME_MS = 30 * 60_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
/**
 * If as many connections are open as may stay idle, a caller waits this long before it opens another one: opening costs
 * much more than reading a page, and the connection is closed again as soon as no caller waits for it.
 */
const GROW_AFTER_MS = 25;
/** Pause between two such connections: on a busy machine, more logins would slow down the work itself. */
const GROW_EVERY_MS = 100;
const MAX_RUNS = 5;

/** Opens no connection yet. */
export function openPool(settings: DatabaseSettings): Pool {
  const state: State = {
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
      // After a lost connection it is unknown whether the server still works for it.
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
      // A lost connection cannot roll back, and need not. The first error is reported.
      await client.query('rollback').catch(() => undefined);
      if (!isTransient(error) || run === MAX_RUNS) throw error;
    }
  }
}

async function acquire(state: State): Promise<Connection> {
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

function isFull({ open, settings }: State): boolean {
  return open >= (settings.maxOpenConns ?? DATABASE_DEFAULTS.maxOpenConns);
}

function idleMax({ settings }: State): number {
  return settings.maxIdleConns ?? DATABASE_DEFAULTS.maxIdleConns;
}

/** Opens a connection that `state.open` already counts. */
async function openConnection(state: State): Promise<Connection> {
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
 * Resolves with a free connection, or with undefined if no connection becomes free soon and the caller may open one.
 */
function wait(state: State): Promise<Connection | undefined> {
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

function release(state: State, connection: Connection): void {
  const waiter = isFit(state, connection) ? state.waiters.shift() : undefined;
  const full = state.idle.length >= idleMax(state);
  if (waiter !== undefined) waiter.take(connection);
  else if (!isFit(state, connection) || state.closed || full) discard(state, connection);
  else state.idle.push(connection);
}

function isFit({ settings }: State, { broken, openedAtMs }: Connection): boolean {
  return !broken && performance.now() - openedAtMs < (settings.connMaxLifetimeMs ?? MAX_LIFETIME_MS);
}

function discard(state: State, { client, destroy, broken }: Connection): void {
  if (broken) destroy();
  else client.end().catch(destroy);
  forget(state);
}

/** Removes one connection: the caller that waits longest may open a new one in its place. */
function forget(state: State): void {
  const waiter = state.waiters.shift();
  if (waiter !== undefined) {
    waiter.take(undefined);
    return;
  }
  state.open -= 1;
  if (state.open === 0) state.onEmpty();
}

async function close(state: State): Promise<void> {
  state.closed = true;
  for (const connection of state.idle.splice(0)) discard(state, connection);
  if (state.open > 0) {
    await new Promise<void>((resolve) => {
      state.onEmpty = resolve;
    });
  }
}
