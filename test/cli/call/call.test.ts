// `skep call` as a program: lists and calls over every transport and revision, types what is written on the command line, shows
// what a server says meanwhile, and ends with the right code.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type RunningServer, startFixture } from '../../harness/mcp-servers.ts';
import { expectOutput } from '../../harness/outputs.ts';
import { type Finished, skep, startSkep } from '../../harness/skep.ts';

const EXECUTABLE = fileURLToPath(new URL('../../../src/skep.ts', import.meta.url));
const folder = temporaryFolder();
const cwd = folder.path;

const SERVERS = [
  { name: 'streamable HTTP with sessions', transport: 'http', eras: 'session', revision: '2025-11-25' },
  { name: 'streamable HTTP without sessions', transport: 'http', eras: 'stateless', revision: '2026-07-28' },
  { name: 'HTTP+SSE', transport: 'sse', eras: 'session', revision: '2025-11-25' },
] as const;

const running = new Map<string, RunningServer>();
beforeAll(async () => {
  for (const { name, transport, eras } of SERVERS) running.set(name, await startFixture({ transport, eras }));
});
afterAll(async () => {
  await Promise.all([...running.values()].map((server) => server.stop()));
  folder.remove();
});

function urlOf(name: string): string {
  return running.get(name)?.backend.url.href ?? '';
}

describe.each(SERVERS)('over $name', ({ name, revision }) => {
  const call = (...args: string[]) => skep(['call', urlOf(name), ...args], { cwd });

  test('lists tools with their arguments', async () => {
    const { code, stdout } = await call();
    expect(code).toBe(0);
    expect(stdout).toContain(`conformance-fixture 1.0.0, MCP ${revision}`);
    expect(stdout).toContain('test_large_text\n    Answers with a text of this many characters.\n    size=integer\n');
    const { stdout: json } = await call('-o', 'json');
    expectOutput('call', json);
    expect(JSON.parse(json)).toMatchObject({ version: 1, server: { protocolVersion: revision } });
  });

  test('prints what a tool answers on standard output, and progress and messages on standard error', async () => {
    expect(await call('test_simple_text')).toMatchObject({ code: 0, stderr: '' });
    const progress = await call('test_tool_with_progress');
    expect(progress).toMatchObject({ code: 0, stderr: expect.stringMatching(/^0\/100.*\n50\/100/) });
    expect((await call('test_tool_with_logging')).stderr.match(/^info.*: /gm)).toHaveLength(3);
    expect((await call('test_tool_with_logging', '--log-level', 'error')).stderr).toBe('');
  });

  test('declines what a server asks where there is no terminal', async () => {
    const { stdout, stderr } = await call('test_elicitation', 'message=Who are you?');
    expect(stderr).toMatch(/^declined, because there is no terminal: Who are you\?$/m);
    expect(stdout).toMatch(/decline/);
  });

  test('ends with 1 where the tool fails, and prints its answer all the same', async () => {
    const { code, stdout, stderr } = await call('test_error_handling');
    expect([code, stdout]).toEqual([1, 'This tool intentionally returns an error for testing\n']);
    expect(stderr).toBe('error call-tool-failed: test_error_handling failed\n');
    const refused = await call('test_protocol_error');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/^error call-failed: .*Internal error\n$/);
  });

  test('Ctrl-C ends a call that takes its time', async () => {
    const label = `waits over ${name}`;
    const call = startSkep(['call', urlOf(name), 'test_wait', `label=${label}`], { cwd });
    const until = ['call', urlOf(name), 'test_wait_state', `label=${label}`];
    await skep([...until, 'state=running'], { cwd });
    call.kill('SIGINT');
    expect((await call.finished).code).toBe(1);
    await skep([...until, 'state=cancelled'], { cwd });
  });
});

test('what one writes becomes what the schema says', async () => {
  writeFileSync(join(cwd, 'text.md'), 'Line one\nline two\n');
  const args = ['value=@text.md', 'nothing=null', 'count=3', 'list=[1, 2]', 'at=@@me'];
  const { stdout } = await skep(['call', urlOf('HTTP+SSE'), 'test_echo', ...args, '--args', '{"more": {"a": 1}}'], {
    cwd,
  });
  expect(JSON.parse(stdout)).toEqual({
    value: 'Line one\nline two\n',
    nothing: null,
    count: 3,
    list: [1, 2],
    at: '@me',
    more: { a: 1 },
  });
});

test('an answer in JSON is what the server sent, pictures included', async () => {
  const url = urlOf('streamable HTTP with sessions');
  expect((await skep(['call', url, 'test_image_content'], { cwd })).stdout).toMatch(/^\[image, image\/png, \d+ bytes/);
  const { stdout } = await skep(['call', url, 'test_image_content', '-o', 'json'], { cwd });
  expectOutput('call', stdout);
  expect(JSON.parse(stdout).content).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
});

test('wrong usage ends with 64 and says what would be right', async () => {
  const url = urlOf('streamable HTTP with sessions');
  const rows: readonly (readonly [readonly string[], string])[] = [
    [
      [url, 'test_simple_txt'],
      'error call-arguments: the server has no tool "test_simple_txt". Did you mean "test_simple_text"?',
    ],
    [[url, 'test_large_text', 'size=many'], 'size has to be integer, and "many" is not'],
    [[url, 'test_large_text'], 'missing: size=...'],
    [[url, 'test_large_text', 'size'], '"size" is not an argument: write key=value'],
    [[url, 'test_echo', '--args', '[1]'], '--args has to be a JSON object'],
    [[url, 'test_echo', 'value=@missing'], 'missing cannot be read'],
    [['mcp.example.com'], 'mcp.example.com is not the URL of a server'],
  ];
  for (const [args, message] of rows) {
    const { code, stdout, stderr } = await skep(['call', ...args], { cwd });
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toContain(message);
  }
});

test('a server that is not there, or is none, ends with 1 and a line that says so', async () => {
  const { code, stderr } = await skep(['call', 'http://127.0.0.1:9/mcp'], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error call-failed: http:\/\/127\.0\.0\.1:9\/mcp: .+\n$/)]);
  const other = `${new URL(urlOf('HTTP+SSE')).origin}/nothing`;
  expect(await skep(['call', other], { cwd })).toMatchObject({ code: 1, stderr: expect.stringContaining(other) });
});

/** With a terminal of its own: script(1) of util-linux; what is typed follows when a text has been shown. */
async function atTerminal(args: readonly string[], typed: readonly (readonly [string, string])[]): Promise<Finished> {
  const command = [process.execPath, EXECUTABLE, 'call', ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { cwd });
  const left = [...typed];
  let shown = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk;
    for (let next = left[0]; next !== undefined && shown.includes(next[0], seen); next = left[0]) {
      seen = shown.indexOf(next[0], seen) + next[0].length;
      child.stdin.write(next[1]);
      left.shift();
    }
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { code, stdout: shown.replaceAll('\r\n', '\n'), stderr: '' };
}

describe('at a terminal', () => {
  const url = () => urlOf('streamable HTTP with sessions');

  test.each(SERVERS)('a form is filled in field by field, over $name', async ({ name }) => {
    const { code, stdout } = await atTerminal(
      [urlOf(name), 'test_elicitation', 'message=Who are you?'],
      [
        ['The server asks: Who are you?', ''],
        ['Answer? [Y/n, Ctrl-D to cancel] ', '\n'],
        ['username: ', 'ann\n'],
        ['email: ', 'ann@example.com\n'],
      ],
    );
    expect(stdout).toContain('"username":"ann"');
    expect(stdout).toContain('"email":"ann@example.com"');
    expect(code).toBe(0);
  });

  test('defaults are offered, and what does not fit is asked for again', async () => {
    const { stdout } = await atTerminal(
      [url(), 'test_elicitation_sep1034_defaults'],
      [
        ['Answer?', 'y\n'],
        ['[John Doe]: ', '\n'],
        ['[30]: ', 'old\n'],
        ['This has to be a', ''],
        ['[30]: ', '31\n'],
        ['[95.5]: ', '\n'],
        ['[active]: ', '1\n'],
        ['[true]: ', 'maybe\n'],
        ['Please answer y or n.', ''],
        ['[true]: ', 'n\n'],
      ],
    );
    expect(stdout).toMatch(/"age":31/);
    expect(stdout).toMatch(/"verified":false/);
  });

  test('a refusal declines and Ctrl-D cancels', async () => {
    const args = [url(), 'test_elicitation', 'message=Well?'];
    expect((await atTerminal(args, [['Answer?', 'n\n']])).stdout).toMatch(/"decline"|decline/);
    expect((await atTerminal(args, [['Answer?', '\u0004']])).stdout).toMatch(/cancel/);
  });

  test('what a server wrote cannot move the cursor', async () => {
    const { stdout } = await atTerminal([url(), 'test_echo', 'value=\u001b[2Jgone'], []);
    expect(stdout).not.toContain('\u001b[2J');
    expect(stdout).toContain('\\u001b[2Jgone');
  });
});
