import { createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { createCluster } from '../../../test/harness/postgres-server.ts';
import { startServer } from './embedded/server.ts';
import { type DatabaseSettings, openPool, type Pool } from './pool.ts';

let database: TestDatabase;
const pools: Pool[] = [];

beforeAll(async () => {
  database = await createTestDatabase('empty');
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});
afterAll(() => database?.drop());

function open(settings: Partial<DatabaseSettings> = {}): Pool {
  const pool = openPool({ ...database.app, ...settings });
  pools.push(pool);
  return pool;
}

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const outcome: unknown = await promise.then(
    (value) => `resolved: ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Failure);
  return outcome as Failure;
}

/** Returns the process id of the server's backend, which differs for each connection. */
async function backend(pool: Pool): Promise<number> {
  return await pool.use(async (client) => (await client.query('select pg_backend_pid() as pid')).rows[0].pid);
}

/** Returns a promise and the function that resolves it. */
function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Returns the number of our pools' connections, as reported by the server. */
async function connections(): Promise<number> {
  const rows = await database.sql<{ n: number }>(
    "select count(*)::int as n from pg_stat_activity where datname = $1 and application_name = 'skep'",
    [database.app.database],
  );
  return rows[0]?.n ?? -1;
}

describe('a pool', () => {
  test('opens no connection before its first use, and uses a free connection again', async () => {
    const pool = open();
    expect(pool.open()).toBe(0);
    expect(await backend(pool)).toBe(await backend(pool));
    expect(pool.open()).toBe(1);
  });

  test('never has more connections than the maximum, and further callers wait', async () => {
    const pool = open({ maxOpenConns: 3 });
    let running = 0;
    let most = 0;
    const pids = await Promise.all(
      Array.from({ length: 20 }, () =>
        pool.use(async (client) => {
          running += 1;
          most = Math.max(most, running, pool.open());
          const { rows } = await client.query('select pg_backend_pid() as pid, pg_sleep(0.01)');
          running -= 1;
          return rows[0].pid;
        }),
      ),
    );
    expect(most).toBe(3);
    expect(new Set(pids).size).toBeLessThanOrEqual(6);
    expect(pids).toHaveLength(20);
  });

  test('keeps the maximum number of idle connections and closes other idle connections', async () => {
    const pool = open({ maxOpenConns: 5, maxIdleConns: 1 });
    const { opened, open: start } = gate();
    const work = Array.from({ length: 4 }, () => pool.use(() => opened));
    await expect.poll(connections).toBe(4);
    start();
    await Promise.all(work);
    expect(pool.open()).toBe(1);
    await expect.poll(connections).toBe(1);
  });

  test('keeps no idle connection if the maximum is 0', async () => {
    const pool = open({ maxIdleConns: 0 });
    expect(await backend(pool)).not.toBe(await backend(pool));
    expect(pool.open()).toBe(0);
  });

  test('closes a connection that exceeds its maximum age', async () => {
    const pool = open({ connMaxLifetimeMs: 0 });
    expect(await backend(pool)).not.toBe(await backend(pool));
  });

  test('rejects a caller that waited longer than the timeout', async () => {
    const pool = open({ maxOpenConns: 1, acquireTimeoutMs: 30 });
    const { opened, open: finish } = gate();
    const work = pool.use(() => opened);
    const failure = await failureOf(backend(pool));
    expect(failure).toMatchObject({ code: 'database-busy', retryable: true });
    finish();
    await work;
    expect(await backend(pool)).toBeGreaterThan(0);
  });

  test('lets the next caller connect after a failed connection', async () => {
    const pool = open({ maxOpenConns: 1, password: 'wrong', user: 'nobody_at_all' });
    const failures = await Promise.all([failureOf(backend(pool)), failureOf(backend(pool)), failureOf(backend(pool))]);
    expect(failures.map(({ code }) => code)).toEqual(Array(3).fill('database-auth'));
    expect(pool.open()).toBe(0);
  });

  test('replaces an idle connection that was lost', async () => {
    const pool = open();
    const pid = await backend(pool);
    await database.sql('select pg_terminate_backend($1)', [pid]);
    await expect
      .poll(async () => (await database.sql('select 1 from pg_stat_activity where pid = $1', [pid])).length)
      .toBe(0);
    expect(await backend(pool)).not.toBe(pid);
  });

  test('does not reuse a connection that was lost during a query', async () => {
    const pool = open();
    const pid = await backend(pool);
    const failure = await failureOf(
      pool.use((client) => client.query('select pg_terminate_backend(pg_backend_pid())')),
    );
    expect(failure).toMatchObject({ code: 'database-unreachable', retryable: true });
    expect(await backend(pool)).not.toBe(pid);
  });

  test('waits for running work when it closes, and opens no connection afterwards', async () => {
    const pool = open();
    const { opened, open: finish } = gate();
    let done = false;
    const work = pool.use(async () => {
      await opened;
      done = true;
    });
    const closing = pool.close().then(() => done);
    finish();
    expect(await closing).toBe(true);
    await work;
    expect((await failureOf(backend(pool))).message).toContain('the pool is closed');
  });
});

describe('a transaction', () => {
  test('is committed completely or not at all', async () => {
    const pool = open({ user: database.migrator.user, password: database.migrator.password ?? '' });
    await pool.use((client) => client.query('create table t (x int)'));
    await pool.transaction((client) => client.query('insert into t values (1)'));
    const failure = await failureOf(
      pool.transaction(async (client) => {
        await client.query('insert into t values (2)');
        await client.query('insert into t values (0/0)');
      }),
    );
    expect(failure.code).toBe('database-error');
    expect(failure.message).toContain('division by zero');
    expect(await database.sql('select x from t')).toEqual([{ x: 1 }]);
  });

  test('is repeated after a serialization failure', async () => {
    const pool = open();
    let runs = 0;
    const result = await pool.transaction(async (client) => {
      runs += 1;
      if (runs < 3) await client.query("do $$ begin raise exception using errcode = '40001', message = 'lost'; end $$");
      return 'won';
    });
    expect({ runs, result }).toEqual({ runs: 3, result: 'won' });
  });

  test('fails after several serialization failures or deadlocks', async () => {
    const pool = open();
    const failure = await failureOf(
      pool.transaction((client) => client.query("do $$ begin raise exception using errcode = '40P01'; end $$")),
    );
    expect(failure).toMatchObject({ code: 'database-busy', retryable: true });
  });
});

describe('a statement that exceeds the time limit', () => {
  test('is stopped by the server', async () => {
    const failure = await failureOf(
      open({ statementTimeoutMs: 50 }).use((client) => client.query('select pg_sleep(5)')),
    );
    expect(failure.code).toBe('database-busy');
  });
});

describe('an unreachable server', () => {
  test('is a failure that contains the address without the password', async () => {
    const failure = await failureOf(backend(open({ port: 1, password: 'hunter2' })));
    expect(failure).toMatchObject({ code: 'database-unreachable', retryable: true });
    expect(failure.message).toMatch(/_app@127\.0\.0\.1:1\/.*: connect ECONNREFUSED/);
    expect(JSON.stringify([failure.message, failure.data])).not.toContain('hunter2');
  });

  test('is reported for an unknown host', async () => {
    const failure = await failureOf(backend(open({ host: 'no-such-host.invalid' })));
    expect(failure).toMatchObject({ code: 'database-unreachable', data: { host: 'no-such-host.invalid' } });
  });

  test('is reported if it accepts the connection but never responds', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port));
    });
    for (const sslMode of ['disable', 'require', 'prefer'] as const) {
      const failure = await failureOf(backend(open({ port, sslMode, connectTimeoutMs: 80 })));
      expect(failure.code, sslMode).toBe('database-unreachable');
    }
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('fails every use, and the pool works again after the server has restarted', async () => {
    const cluster = await createCluster();
    const first = await startServer(cluster.options);
    const { host, port } = first;
    const pool = openPool({ host, port, user: 'postgres', database: 'postgres', sslMode: 'disable' });
    expect(await backend(pool)).toBeGreaterThan(0);
    await first.stop();
    expect((await failureOf(backend(pool))).code).toBe('database-unreachable');
    expect((await failureOf(backend(pool))).code).toBe('database-unreachable');
    const second = await startServer({ ...cluster.options, port });
    expect(await backend(pool)).toBeGreaterThan(0);
    await pool.close();
    await second.stop();
    cluster.remove();
  });
});
