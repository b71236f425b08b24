import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createCluster } from '../../../../test/harness/postgres-server.ts';
import { initCluster, startServer } from './server.ts';

const HARNESS = fileURLToPath(new URL('../../../../test/harness/postgres-server.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url));

test('a port in use is a failure with the message of the server', async () => {
  const cluster = await createCluster();
  const first = await startServer(cluster.options);
  const other = await createCluster();
  const failure = await startServer({ ...other.options, port: first.port }).catch((error: unknown) => error);
  await first.stop();
  cluster.remove();
  other.remove();
  expect(failure).toMatchObject({ code: 'database-server-failed', message: expect.stringContaining('did not start') });
  expect(JSON.stringify(failure)).toContain('Address already in use');
});

test('an initdb that fails is a failure with the message of initdb', async () => {
  const { options, home, remove } = await createCluster();
  const initdb = join(home, 'initdb');
  writeFileSync(initdb, `#!/bin/sh\nulimit -f 64\nexec ${options.binaries.initdb} "$@"\n`, { mode: 0o755 });
  const limited = { ...options, binaries: { ...options.binaries, initdb }, dataDir: join(home, 'other') };
  const failure = await initCluster(limited, 'trust', false).catch((error: unknown) => error);
  remove();
  expect(failure).toMatchObject({ code: 'database-server-failed', message: expect.stringContaining('File too large') });
});

test('a server whose parent process is killed stops and, if requested, deletes its directory', async () => {
  const code = `import { createCluster } from ${JSON.stringify(HARNESS)};
    import { startServer } from ${JSON.stringify(SERVER)};
    const cluster = await createCluster();
    const { pid } = await startServer(cluster.options);
    console.log(JSON.stringify({ pid, home: cluster.home }));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid, home } = await new Promise<{ pid: number; home: string }>((resolve, reject) => {
    child.stdout.on('data', (text) => resolve(JSON.parse(String(text))));
    child.once('exit', (status) => reject(new Error(`ended with status ${status}`)));
  });
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain(home);
  child.kill('SIGKILL');
  await expect.poll(() => existsSync(home)).toBe(false);
});
