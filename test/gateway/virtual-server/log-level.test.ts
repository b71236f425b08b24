// Tests that a virtual server applies a changed log level.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formatVmcpConfig } from '#contracts/vmcp-config.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { SKEP } from '../../harness/mcp-modes.ts';
import { startProgram } from '../../harness/mcp-program.ts';
import { configOf, connect, operational } from './world.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const STORAGE = { provider: 'redis', address: '127.0.0.1:1', db: 0 } as const;

test('a changed setting that requires a restart leads to a warning', async () => {
  const file = join(folder.path, 'restart.yaml');
  const config = configOf({});
  writeFileSync(file, formatVmcpConfig(config));
  const program = startProgram([SKEP, 'vmcp', 'serve', '--config', file, '--port', '0']);
  try {
    await program.printed(/serving (http:\S+)/);
    writeFileSync(file, formatVmcpConfig({ ...config, sessionStorage: STORAGE }));
    await program.printed(
      /"code":"vmcp-restart-needed".*sessionStorage of the configuration is read only at the start/,
    );
    await program.printed(/configuration read again/);
    writeFileSync(file, formatVmcpConfig(config));
    await program.printed(/configuration read again[\s\S]*configuration read again/);
    expect(program.output().match(/sessionStorage of the configuration is read only at the start/g)).toHaveLength(1);
  } finally {
    await program.stop();
  }
});

test('the log level follows changes of the configuration', async () => {
  const file = join(folder.path, 'config.yaml');
  const write = (name: string, logLevel: 'debug' | undefined) => {
    const config = configOf({}, { metadata: { name } });
    writeFileSync(file, formatVmcpConfig({ ...config, operational: { ...operational({}).operational, logLevel } }));
  };
  write('first', undefined);
  const program = startProgram([SKEP, 'vmcp', 'serve', '--config', file, '--port', '0']);
  try {
    const [, url = ''] = await program.printed(/serving (http:\S+)/);
    await connect({ url });
    expect(program.output()).not.toContain('"level":"debug"');
    write('second', 'debug');
    await program.printed(/configuration read again/);
    await connect({ url });
    await program.printed(/"level":"debug".*"msg":"request"/);
    write('third', undefined);
    await program.printed(/configuration read again[\s\S]*configuration read again/);
    const before = program.output().length;
    await connect({ url });
    expect(program.output().slice(before)).not.toContain('"level":"debug"');
  } finally {
    await program.stop();
  }
});
