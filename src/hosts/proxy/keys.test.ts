import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { createWatchedFiles } from '../watched-files.ts';
import { readSessionKeys, watchSeal } from './keys.ts';

function configOf(paths: readonly string[]): RunConfig {
  return {
    schema_version: 'v0.1.0',
    name: 'weather',
    namespace: 'agents',
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port: 8080,
    trust_proxy_headers: false,
    audit_config: { enabled: false, component: 'weather' },
    session_key_files: [...paths],
  };
}

const SESSION = { id: 'abc', issuedAt: 1, caller: 'me' };

test('opens ids of the previous key after a rotation, and seals with the new key', () => {
  const texts = new Map([
    ['first', 'a'.repeat(40)],
    ['second', 'b'.repeat(40)],
  ]);
  const files: Pick<WatchedFiles, 'read'> = { read: (path) => texts.get(path) ?? '' };
  const config = configOf(['first', 'second']);
  const seal = watchSeal(config, files, readSessionKeys(config, files));
  const before = seal.seal(SESSION) ?? '';
  texts.set('second', texts.get('first') ?? '').set('first', 'c'.repeat(40));
  expect(seal.open(before, 'me')?.id).toBe('abc');
  const after = seal.seal(SESSION) ?? '';
  texts.set('first', 'short');
  expect(seal.open(after, 'me')?.id).toBe('abc');
});

test('refuses a short key, and names its file', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'skep-')), 'key');
  writeFileSync(file, 'short');
  expect(() => readSessionKeys(configOf([file]), createWatchedFiles())).toThrow(
    `${file} must hold at least 32 characters`,
  );
});
