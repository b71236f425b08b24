// Colours: on a terminal, and nowhere else.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { colour } from '#hosts/colour.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { skep } from '../harness/skep.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;

writeFileSync(
  join(cwd, 'group.yaml'),
  `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPGroup
metadata: { name: tools, namespace: tools }
spec: { descriptoin: x }
`,
);
const VALIDATE = ['validate', 'group.yaml', '--no-cache'];
const ESCAPE = '\u001b[';

test('lines have the colour of what they say', () => {
  const lines = [
    '  + tools/MCPServer/new',
    '  ~ tools/MCPServer/changed',
    '  - tools/MCPServer/old (+10 objects)',
    '  -/+ tools/Deployment/again (deleted and created again)',
    'fleet.yaml:3:5: error schema-enum: must be one of a, b. (tools/MCPServer/wiki)',
    'fleet.yaml:3:5: warning secret-plaintext: everybody can read it (tools/Secret/wiki)',
    '[  4.7 s] fleet.yaml:3:5: error schema-enum: must be one of a, b. (tools/MCPServer/wiki)',
    '          fleet.yaml:3:5: warning image-tag: it has no digest (tools/MCPServer/wiki)',
    '[  4.7 s] solved: fleet.yaml:3:5: error schema-enum: must be one of a, b. (tools/MCPServer/wiki)',
    'error git-unreachable: no answer',
    'error: option is invalid',
    'warn webhook with a wrong signature',
    'tools/MCPServer/wiki created',
    '[  4.7 s] tools/MCPServer/wiki deleted',
    '2026-01-02T03:04:05Z tools/MCPServer/wiki failed: no such namespace [cluster-not-found]',
    '[  4.7 s] tools/MCPServer/wiki held: its namespace does not exist [blocked]',
    '  tools/MCPServer/wiki is Failed',
    'prod: in sync',
    '1 created, 0 configured, 0 unchanged, 0 deleted, 0 held, 0 failed (13 API requests, 1.0 s)',
  ];
  const names = { 1: 'bold', 31: 'red', 32: 'green', 33: 'yellow', 35: 'magenta', 22: '/', 39: '/' };
  const [first = '', ...parts] = colour(lines.join('\n')).split(ESCAPE);
  const marked = [
    first,
    ...parts.map((part) => part.replace(/^(\d+)m/, (_, code: keyof typeof names) => `<${names[code]}>`)),
  ].join('');
  expect(marked).toMatchInlineSnapshot(`
    "<green>  + tools/MCPServer/new</>
    <yellow>  ~ tools/MCPServer/changed</>
    <red>  - tools/MCPServer/old (+10 objects)</>
    <magenta>  -/+ tools/Deployment/again (deleted and created again)</>
    fleet.yaml:3:5: <red><bold>error schema-enum</></>: must be one of a, b. (tools/MCPServer/wiki)
    fleet.yaml:3:5: <yellow><bold>warning secret-plaintext</></>: everybody can read it (tools/Secret/wiki)
    [  4.7 s] fleet.yaml:3:5: <red><bold>error schema-enum</></>: must be one of a, b. (tools/MCPServer/wiki)
              fleet.yaml:3:5: <yellow><bold>warning image-tag</></>: it has no digest (tools/MCPServer/wiki)
    [  4.7 s] solved: fleet.yaml:3:5: error schema-enum: must be one of a, b. (tools/MCPServer/wiki)
    <red><bold>error git-unreachable</></>: no answer
    <red><bold>error</></>: option is invalid
    <yellow><bold>warn</></> webhook with a wrong signature
    tools/MCPServer/wiki <green>created</>
    [  4.7 s] tools/MCPServer/wiki <red>deleted</>
    2026-01-02T03:04:05Z tools/MCPServer/wiki <red><bold>failed</></>: no such namespace [cluster-not-found]
    [  4.7 s] tools/MCPServer/wiki <yellow><bold>held</></>: its namespace does not exist [blocked]
      tools/MCPServer/wiki is <red><bold>Failed</></>
    prod<green>: in sync</>
    1 created, 0 configured, 0 unchanged, 0 deleted, 0 held, 0 failed (13 API requests, 1.0 s)"
  `);
});

test('there are none on a pipe, with NO_COLOR, and with --no-color', async () => {
  const forced = { FORCE_COLOR: '1' };
  expect((await skep(VALIDATE, { cwd, env: forced })).stdout).toContain(ESCAPE);
  expect((await skep(VALIDATE, { cwd })).stdout).not.toContain(ESCAPE);
  expect((await skep([...VALIDATE, '--no-color'], { cwd, env: forced })).stdout).not.toContain(ESCAPE);
  expect((await skep([...VALIDATE, '-o', 'markdown'], { cwd, env: forced })).stdout).not.toContain(ESCAPE);
  expect((await skep(['plan'], { cwd, env: forced })).stderr).toContain(`${ESCAPE}31m`);
});

const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript)('there are on a terminal, but not with NO_COLOR', () => {
  const program = fileURLToPath(new URL('../../src/skep.ts', import.meta.url));
  const onTerminal = (more: Record<string, string>) => {
    const env = { PATH: process.env.PATH, HOME: cwd, TERM: 'xterm-256color', ...more };
    const command = [process.execPath, program, ...VALIDATE].join(' ');
    return spawnSync('script', ['-qec', command, '/dev/null'], { cwd, env, encoding: 'utf8' }).stdout;
  };
  expect(onTerminal({})).toContain(ESCAPE);
  expect(onTerminal({ NO_COLOR: '1' })).not.toContain(ESCAPE);
});
