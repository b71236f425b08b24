// The client under test of the scenarios of OAuth: `skep call`, which logs in by itself. It lists the tools, and then calls the
// first one, as a person would. The suite appends the server's URL to the command.
//
// MCP_CONFORMANCE_CONTEXT: set by the suite; names the client where one was registered before.

import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fields, text } from '../../test/conformance/fixture/json.ts';

const SKEP = fileURLToPath(new URL('../../src/skep.ts', import.meta.url));
/** The suite's authorization server asks no one: it sends the browser on at once. */
const BROWSER = `#!/bin/sh\nexec ${process.execPath} -e 'fetch(process.argv[1]).catch(() => undefined)' "$1"\n`;

async function main(): Promise<void> {
  const server = text(process.argv[2]);
  const folder = mkdtempSync(join(tmpdir(), 'conformance-call-'));
  try {
    const browser = join(folder, 'browser');
    writeFileSync(browser, BROWSER);
    chmodSync(browser, 0o755);
    const call = (...args: readonly string[]) =>
      runCall([server, ...args, ...clientOptions(folder)], { XDG_STATE_HOME: folder, BROWSER: browser });
    const listed = await call('-o', 'json');
    if (listed.code !== 0) process.exitCode = 1;
    if (listed.stdout === '') return;
    const { tools } = fields(JSON.parse(listed.stdout));
    const [first] = Array.isArray(tools) ? tools.map((tool) => text(fields(tool).name)) : [];
    if (first !== undefined) process.exitCode = (await call(first)).code;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function clientOptions(folder: string): readonly string[] {
  const context = fields(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'));
  if (typeof context.client_id !== 'string') return [];
  const file = join(folder, 'secret');
  writeFileSync(file, text(context.client_secret), { mode: 0o600 });
  return ['--client-id', context.client_id, '--client-secret-file', file];
}

function runCall(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [SKEP, 'call', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  return new Promise<{ readonly code: number; readonly stdout: string }>((resolve) =>
    child.once('close', (code) => resolve({ code: code ?? 1, stdout })),
  );
}

await main();
