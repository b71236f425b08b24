import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openToken } from './token.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skep-token-'));
  file = join(folder, 'token');
});
afterEach(() => rm(folder, { recursive: true }));

test('the first start creates a token that only its user can read, and later starts keep the token', async () => {
  const token = await openToken(file, false);
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(readFileSync(file, 'utf8')).toBe(`${token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await openToken(file, false)).toBe(token);
});

test('a new token is created if requested', async () => {
  const token = await openToken(file, false);
  const fresh = await openToken(file, true);
  expect(fresh).not.toBe(token);
  expect(await openToken(file, false)).toBe(fresh);
});

test.each([
  { content: '', mode: 0o600, why: 'is empty' },
  { content: 'short\n', mode: 0o600, why: 'is too short to be one of ours' },
  { content: `${'a'.repeat(32)}\n`, mode: 0o644, why: 'can be read by others' },
  { content: `${'a'.repeat(32)}\n`, mode: 0o620, why: 'can be written by others' },
])('a token that $why is replaced', async ({ content, mode }) => {
  writeFileSync(file, content);
  chmodSync(file, mode);
  const token = await openToken(file, false);
  expect(token).not.toBe(content.trim());
  expect(readFileSync(file, 'utf8')).toBe(`${token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a link at the token's path is replaced, and its target is neither read nor written", async () => {
  const other = join(folder, 'other');
  const chosen = 'b'.repeat(32);
  writeFileSync(other, chosen, { mode: 0o600 });
  symlinkSync(other, file);
  expect(await openToken(file, false)).not.toBe(chosen);
  expect(readFileSync(other, 'utf8')).toBe(chosen);
});
