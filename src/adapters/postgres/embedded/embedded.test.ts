// Tests the embedded PostgreSQL: start, death of the starting process, choice of programs, root. In one file, because
// the tests share the processes that start servers.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { connect, type DatabaseAddress } from '../connect.ts';
import { migrate } from '../migrate.ts';
import { binariesIn, embeddedBinaries, serverAccount, systemBinaries } from './binaries.ts';
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from './embedded.ts';
import { chooseSite } from './site.ts';

const root = mkdtempSync(join(tmpdir(), 'skep-embedded-'));
const running: EmbeddedDatabase[] = [];
const children: ChildProcess[] = [];

beforeAll(() => chmodSync(root, 0o755));
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map((database) => database.stop()));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function options(name: string, more: Partial<EmbeddedOptions> = {}): EmbeddedOptions {
  return {
    dir: join(root, name),
    database: 'registry',
    migrator: { user: 'db_migrator', password: 'it\'s \\ "migrating"' },
    app: { user: 'db_app', password: 'app' },
    ...more,
  };
}

async function start(name: string, more: Partial<EmbeddedOptions> = {}): Promise<EmbeddedDatabase> {
  const database = await startEmbedded(options(name, more));
  running.push(database);
  return database;
}

async function query(address: DatabaseAddress, sql: string): Promise<unknown[]> {
  const { client } = await connect(address);
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const outcome: unknown = await promise.then(
    () => 'resolved',
    (error: unknown) => error,
  );
  return outcome instanceof Failure ? outcome.code : String(outcome);
}

/** True if the process runs. False for a zombie. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the processes that have the directory in their command line. */
function processesOn(dir: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && runs(Number(pid)))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dir);
      } catch {
        return false;
      }
    });
}

/** A shared directory, because creating a data directory takes longer than all other steps of the tests. */
const HOME = 'home';

describe('an embedded server', () => {
  test('is created at the first start, permits only its two users, and keeps its data after a restart', async () => {
    const first = await start(HOME);
    await migrate(first.migrator, { appUser: 'db_app' });
    await query(first.migrator, 'create table kept as select 1 as x');
    expect(await query(first.app, 'select name from catalogue_entry')).toEqual([]);
    expect(await codeOf(query(first.app, 'create table x ()'))).toContain('permission denied');
    expect(await codeOf(query({ ...first.app, password: 'wrong' }, 'select 1'))).toBe('database-auth');
    expect(await codeOf(query({ ...first.app, user: 'postgres', password: 'any' }, 'select 1'))).toBe('database-auth');
    await first.stop();
    await first.stop();
    expect(runs(first.pid)).toBe(false);
    expect(processesOn(join(root, HOME))).toEqual([]);

    const second = await start(HOME, { app: { user: 'db_app', password: 'another one' } });
    expect(await query(second.migrator, 'select x from kept')).toEqual([{ x: 1 }]);
    expect(await codeOf(query({ ...second.app, password: 'app' }, 'select 1'))).toBe('database-auth');
  });

  test('listens only on this machine, and on no Unix socket', async () => {
    const { app } = await start(HOME);
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4');
    if (outside !== undefined) {
      expect(await codeOf(query({ ...app, host: outside.address }, 'select 1'))).toBe('database-unreachable');
    }
    expect(existsSync(`/tmp/.s.PGSQL.${app.port}`)).toBe(false);
  });

  test('can be used by only one process', async () => {
    await start(HOME);
    const failure = await startEmbedded(options(HOME)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'database-in-use', data: { pid: process.pid } });
  });

  test('recovers after it was killed', async () => {
    const first = await start(HOME);
    await query(first.migrator, 'create table survived as select 2 as x');
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    expect(existsSync(join(root, HOME, 'data', 'postmaster.pid'))).toBe(true);
    const second = await start(HOME);
    expect(await query(second.migrator, 'select x from survived')).toEqual([{ x: 2 }]);
  });

  test.each([
    { pid: () => process.pid, reason: 'belongs to another program now' },
    { pid: () => 2 ** 22 + 1, reason: 'belongs to nobody' },
  ])('starts despite a lock file whose process id $reason', async ({ pid }) => {
    const data = join(root, HOME, 'data');
    writeFileSync(join(data, 'postmaster.pid'), `${pid()}\n${data}\n`);
    const database = await start(HOME);
    expect(await query(database.app, 'select 1 as x')).toEqual([{ x: 1 }]);
  });

  test('that cannot start reports the reason without a password, and its processes end', async () => {
    const settings = join(root, HOME, 'data', 'postgresql.auto.conf');
    writeFileSync(settings, 'no_such_setting = 1\n');
    const failure = await startEmbedded(options(HOME)).catch((error: unknown) => error);
    writeFileSync(settings, '');
    expect(failure).toMatchObject({ code: 'database-server-failed' });
    expect(JSON.stringify(failure)).toContain('no_such_setting');
    expect(JSON.stringify(failure)).not.toContain('migrating');
    expect(processesOn(join(root, HOME))).toEqual([]);
    await start(HOME);
  });

  test('whose creation was interrupted is created again', async () => {
    const dir = join(root, 'interrupted');
    mkdirSync(join(dir, 'data.new', 'base'), { recursive: true });
    writeFileSync(join(dir, 'data.new', 'PG_VERSION'), '1');
    const database = await start('interrupted');
    expect(await query(database.app, 'select 1 as x')).toEqual([{ x: 1 }]);
  });
});

describe('when the process that started it is killed', () => {
  /** Starts another process, which starts a server and prints the server's process id. */
  async function startElsewhere(name: string): Promise<{ child: ChildProcess; pid: number }> {
    const module = fileURLToPath(new URL('./embedded.ts', import.meta.url));
    const code = `import { startEmbedded } from ${JSON.stringify(module)};
      const database = await startEmbedded(${JSON.stringify(options(name))});
      console.log(database.pid);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const pid = await new Promise<number>((resolve, reject) => {
      child.stdout?.on('data', (text) => resolve(Number(text)));
      child.once('exit', (status) => reject(new Error(`ended with status ${status}`)));
    });
    return { child, pid };
  }

  test('its server stops, and then another process can use the data directory', async () => {
    const { child, pid } = await startElsewhere(HOME);
    expect(await codeOf(startEmbedded(options(HOME)))).toBe('database-in-use');
    child.kill('SIGKILL');
    await expect.poll(() => runs(pid)).toBe(false);
    const database = await start(HOME);
    expect(await query(database.app, 'select 1 as x')).toEqual([{ x: 1 }]);
  });

  test('the next start waits until the old server has stopped', async () => {
    const { child, pid } = await startElsewhere(HOME);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    const database = await start(HOME);
    expect(runs(pid)).toBe(false);
    expect(await query(database.app, 'select 1 as x')).toEqual([{ x: 1 }]);
  });
});

describe('the programs', () => {
  test.each([
    { name: 'that npm installed', binaries: embeddedBinaries() },
    { name: 'that the system has', binaries: systemBinaries() },
  ])('$name can run a server, if they are installed', async ({ name, binaries }) => {
    if (binaries === undefined) {
      process.stderr.write(`skipped: there are no programs ${name}\n`);
      return;
    }
    const database = await start(`programs-${name.replaceAll(' ', '-')}`, { binaries });
    expect(await query(database.app, 'select 1 as x')).toEqual([{ x: 1 }]);
  });

  test('are found in the newest version', () => {
    const fake = join(root, 'versions');
    for (const version of ['9.6', '15', '9']) {
      mkdirSync(join(fake, version, 'bin'), { recursive: true });
      for (const program of ['initdb', 'postgres']) writeFileSync(join(fake, version, 'bin', program), '');
    }
    mkdirSync(join(fake, '17', 'bin'), { recursive: true });
    expect(systemBinaries(fake)?.directory).toBe(join(fake, '15', 'bin'));
    expect(systemBinaries(join(root, 'none'))).toBeUndefined();
  });
});

/** The server runs under another account only if we are root. */
describe.runIf(process.getuid?.() === 0)('as root', () => {
  test('the server runs as another user', async () => {
    const database = await start(HOME);
    expect(statSync(`/proc/${database.pid}`).uid).not.toBe(0);
  });

  test('a directory and programs that the account cannot enter are moved or copied to a shared folder', async () => {
    const closed = join(root, 'closed');
    mkdirSync(join(closed, 'data-here'), { recursive: true });
    chmodSync(closed, 0o700);
    const account = serverAccount();
    const found = systemBinaries() ?? embeddedBinaries();
    if (found === undefined) throw new Error('there is no PostgreSQL');
    const programs = join(closed, 'native', 'bin');
    mkdirSync(programs, { recursive: true });
    for (const program of ['initdb', 'postgres']) writeFileSync(join(programs, program), '', { mode: 0o755 });
    const hidden = binariesIn(programs);
    if (hidden === undefined) throw new Error('the fake programs are there');

    const shared = join(root, 'shared');
    const site = await chooseSite(join(closed, 'data-here'), hidden, account, shared);
    expect(site.dataDir.startsWith(shared)).toBe(true);
    expect(site.binaries.postgres.startsWith(shared)).toBe(true);
    expect(existsSync(site.binaries.initdb)).toBe(true);
    expect(await chooseSite(join(closed, 'data-here'), hidden, account, shared)).toEqual(site);
    expect((await chooseSite(join(root, HOME), found, account, shared)).dataDir).toBe(join(root, HOME, 'data'));
  });

  test('the start fails if the shared folder cannot be created', async () => {
    const closed = join(root, 'closed', 'again');
    mkdirSync(closed, { recursive: true });
    chmodSync(join(root, 'closed'), 0o700);
    writeFileSync(join(root, 'file'), '');
    const found = systemBinaries() ?? embeddedBinaries();
    if (found === undefined) throw new Error('there is no PostgreSQL');
    expect(await codeOf(chooseSite(closed, found, serverAccount(), join(root, 'file', 'x')))).toBe(
      'database-server-failed',
    );
  });
});
