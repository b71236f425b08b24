// `skep call` before a server that wants a token: the login through the browser at the issuer of the sample fleet, with the proxy
// in between, and what is kept of it.

import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type SampleIssuer, startSampleIssuer } from '#hosts/dev/issuer/issuer.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { runProxy, type TestedProxy } from '../../gateway/proxy/world.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Finished, type Running, skep, startSkep } from '../../harness/skep.ts';

const folder = temporaryFolder();
const who = join(folder.path, 'who');
const browser = join(folder.path, 'browser');
let issuer: SampleIssuer;
let server: Running;
let proxy: TestedProxy;
let home = '';

beforeAll(async () => {
  issuer = await startIssuer();
  server = startSkep(['sample', 'holidays'], {
    cwd: folder.path,
    env: { MCP_TRANSPORT: 'streamable-http', MCP_PORT: '0' },
  });
  const [, port = ''] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(await server.printed('serving http')) ?? [];
  const own = await freePort();
  proxy = await runProxy({
    target_host: '127.0.0.1',
    target_port: Number(port),
    port: own,
    audit_config: { enabled: true, component: 'holidays' },
    oidc_config: {
      issuer: issuer.url,
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: false,
      insecure_allow_http: true,
      resource_url: `http://127.0.0.1:${own}/mcp`,
      scopes: ['openid'],
    },
  });
  writeFileSync(
    browser,
    `#!/bin/sh\nexec ${process.execPath} ${processFile()} "$1" >> ${folder.path}/browser.log 2>&1\n`,
  );
  chmodSync(browser, 0o755);
});
afterAll(async () => {
  await proxy?.stop();
  server?.kill('SIGTERM');
  await issuer?.stop();
  folder.remove();
});
beforeEach(() => {
  home = mkdtempSync(join(folder.path, 'home-'));
  says('ann');
});

async function startIssuer(): Promise<SampleIssuer> {
  const started = await startSampleIssuer(join(folder.path, 'issuer'));
  if (started === undefined) throw new Error('oidc-provider is not installed');
  return started;
}

function processFile(): string {
  return fileURLToPath(new URL('browser-process.ts', import.meta.url));
}

function says(name: string): void {
  writeFileSync(who, name);
}

function call(args: readonly string[], env: Record<string, string> = { BROWSER: browser }): Promise<Finished> {
  const url = `${proxy.origin}/mcp`;
  return skep(['call', url, ...args], { cwd: folder.path, env: { XDG_STATE_HOME: home, WHO: who, ...env } });
}

const TOOL = ['next_holiday', 'country=DE', 'after=2026-12-20'];
const ANSWER = '2026-12-25  Christmas Day\n';

function loginFiles(): string[] {
  return readdirSync(join(home, 'skep/logins')).map((name) => join(home, 'skep/logins', name));
}

test('a login through the browser gives a token, which is kept for its owner only and used again', async () => {
  const first = await call(TOOL);
  expect(first).toEqual({
    code: 0,
    stdout: ANSWER,
    stderr: expect.stringMatching(/^Log in with your browser: http.*\nLogged in\.\n$/),
  });
  expect(proxy.audit.at(-1)).toMatchObject({ subjects: { user: 'ann', user_id: 'ann', client_name: 'skep' } });
  const [file = ''] = loginFiles();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'skep/logins')).mode & 0o777).toBe(0o700);
  says('refuse');
  expect(await call(TOOL)).toEqual({ code: 0, stdout: ANSWER, stderr: '' });
});

test('a token that ran out is refreshed without asking, also after the issuer was started again', async () => {
  await call(TOOL);
  await issuer.stop();
  const before = issuer.url;
  issuer = await startIssuer();
  expect(issuer.url).toBe(before);
  const [file = ''] = loginFiles();
  const login = JSON.parse(readFileSync(file, 'utf8'));
  const spoiled = { ...login, tokens: { ...login.tokens, access_token: 'expired' } };
  writeFileSync(file, JSON.stringify(spoiled));
  says('refuse');
  expect(await call(TOOL)).toEqual({ code: 0, stdout: ANSWER, stderr: '' });
  expect(JSON.parse(readFileSync(file, 'utf8')).tokens.access_token).not.toBe('expired');
});

test('a login that is refused ends with 1, and says so', async () => {
  says('refuse');
  const { code, stdout, stderr } = await call(TOOL);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/error call-login: the login was refused: .+\n$/);
});

test('without a terminal and a browser nobody waits for a login', async () => {
  const { code, stderr } = await call(TOOL, {});
  expect(code).toBe(1);
  expect(stderr).toContain('error call-login: the server requires a login, and there is no terminal');
});

test('a token of a file is used as it is', async () => {
  await call(TOOL);
  const [file = ''] = loginFiles();
  const { tokens } = JSON.parse(readFileSync(file, 'utf8'));
  const good = join(home, 'good');
  writeFileSync(good, `${tokens.access_token}\n`);
  expect(await call([...TOOL, '--token-file', good], {})).toEqual({ code: 0, stdout: ANSWER, stderr: '' });
  writeFileSync(good, 'bad\n');
  const { code, stderr } = await call([...TOOL, '--token-file', good], {});
  expect([code, stderr]).toEqual([
    1,
    'error call-login: the server refuses the token of --token-file (the server says: token validation failed)\n',
  ]);
});

test.each([
  [
    401,
    { error: 'its token is in .skep/dev/token' },
    'error call-login: the server requires a token and does not name an issuer: use --token-file (the server says: its token is in .skep/dev/token)\n',
  ],
  [503, { error: 'wiki does not run here' }, 'error call-failed: URL: wiki does not run here\n'],
  [404, { error: 'no server of this name runs here' }, 'error call-failed: URL: no server of this name runs here\n'],
  [
    400,
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no session' } },
    'error call-failed: URL: no session\n',
  ],
])('the reason of a refusal with status %i is that of the server', async (status, body, said) => {
  const text = JSON.stringify(body);
  // Without its length, as most servers send it.
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const refusing = createServer((_request, response) => response.writeHead(status, headers).end(text));
  const port = await freePort();
  await new Promise<void>((resolve) => refusing.listen(port, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${port}/mcp`;
    const env = { XDG_STATE_HOME: home, WHO: who, BROWSER: browser };
    const { code, stderr } = await skep(['call', url], { cwd: folder.path, env });
    expect([code, stderr]).toEqual([1, said.replace('URL', url)]);
  } finally {
    refusing.close();
  }
});

test('a server that wants a token and names no login asks for a token file', async () => {
  const plain = createServer((_request, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end());
  const port = await freePort();
  await new Promise<void>((resolve) => plain.listen(port, '127.0.0.1', resolve));
  try {
    const { code, stderr } = await skep(['call', `http://127.0.0.1:${port}/mcp`], {
      cwd: folder.path,
      env: { XDG_STATE_HOME: home, WHO: who, BROWSER: browser },
    });
    expect([code, stderr]).toEqual([
      1,
      'error call-login: the server requires a token and does not name an issuer: use --token-file\n',
    ]);
  } finally {
    plain.close();
  }
});

test('another start of the issuer knows who registered, and a damaged login is asked for again', async () => {
  await call(TOOL);
  const [file = ''] = loginFiles();
  writeFileSync(file, '{');
  expect(await call(TOOL)).toMatchObject({ code: 0, stdout: ANSWER, stderr: expect.stringContaining('Logged in.') });
});

/** As an administrator does it (RFC 7591): with a secret, for a program on this machine. */
async function registerClient(): Promise<{ readonly client_id: string; readonly client_secret: string }> {
  const { registration_endpoint: url } = (await (
    await fetch(`${issuer.url}/.well-known/openid-configuration`)
  ).json()) as { registration_endpoint: string };
  const body = JSON.stringify({
    redirect_uris: ['http://127.0.0.1/callback'],
    application_type: 'native',
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(201);
  return (await answer.json()) as { client_id: string; client_secret: string };
}

test('a client that is given logs in with its secret and the scopes that are asked for, and none is registered', async () => {
  const { client_id: id, client_secret: secret } = await registerClient();
  const secretFile = join(home, 'secret');
  writeFileSync(secretFile, `${secret}\n`);
  const given = ['--client-id', id, '--client-secret-file', secretFile, '--scope', 'openid offline_access'];
  const { code, stdout, stderr } = await call([...TOOL, ...given]);
  expect([code, stdout]).toEqual([0, ANSWER]);
  const [, asked = ''] = /^Log in with your browser: (.+)$/m.exec(stderr) ?? [];
  const { searchParams } = new URL(asked);
  expect([searchParams.get('client_id'), searchParams.get('scope')]).toEqual([id, 'openid offline_access']);
  const [file = ''] = loginFiles();
  const kept = readFileSync(file, 'utf8');
  expect(Object.keys(JSON.parse(kept)).sort()).toEqual(['port', 'server', 'tokens']);
  expect(kept).not.toContain(secret);
  expect(proxy.audit.at(-1)).toMatchObject({ subjects: { user_id: 'ann' } });
});

test('a client with a wrong secret is not logged in, and the secret is nowhere in the message', async () => {
  const { client_id: id } = await registerClient();
  const secretFile = join(home, 'secret');
  writeFileSync(secretFile, 'a-wrong-secret\n');
  const { code, stdout, stderr } = await call([...TOOL, '--client-id', id, '--client-secret-file', secretFile]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/error call-login: cannot log in: .*\n$/);
  expect(stderr).not.toContain('a-wrong-secret');
});

test('a file of a secret that is not there is named', async () => {
  const { code, stderr } = await call([...TOOL, '--client-id', 'mine', '--client-secret-file', join(home, 'absent')]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(join(home, 'absent'));
});
