import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandAdvice, devAdvice, withOptionAdvice } from './advice.ts';

const before = process.cwd();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-advice-'));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

function put(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
}

const RUNNING = 'skep dev does not run here: start it again (npm start, or skep dev)';

test('a command of another tool has an answer, and the name of a member of objects has none', () => {
  expect(commandAdvice('up')).toBe('skep dev starts a fleet on this machine');
  expect(commandAdvice('constructor')).toBeUndefined();
});

test('an option of another tool has an answer behind the message', () => {
  expect(withOptionAdvice("error usage: unknown option '--token'\n")).toBe(
    "error usage: unknown option '--token': write the token into a file, and name it with --token-file\n",
  );
  expect(withOptionAdvice("error usage: unknown option '--x'\n")).toBe("error usage: unknown option '--x'\n");
});

test('without a kubeconfig, the configurations that skep dev has written are named', () => {
  put('skep.yaml', '.skep/dev-fleet/skep.yaml', '.skep/dev-other/empty');
  expect(devAdvice('cluster-config-invalid', ['status'])).toBe(
    'skep dev runs a fleet of this folder in its own cluster: select it with -c .skep/dev-fleet/skep.yaml',
  );
});

test('a cluster of skep dev that does not answer is one that does not run', () => {
  put('.skep/dev/skep.yaml');
  expect(devAdvice('cluster-unreachable', ['history'])).toBe(RUNNING);
  expect(devAdvice('database-unreachable', ['history'])).toBe(RUNNING);
  put('skep.yaml');
  expect(devAdvice('cluster-unreachable', ['status'])).toBeUndefined();
  expect(devAdvice('cluster-unreachable', ['status', '-c', '.skep/dev/skep.yaml'])).toBe(RUNNING);
});

test('a command that names another configuration is not about skep dev', () => {
  put('.skep/dev/skep.yaml');
  expect(devAdvice('cluster-unreachable', ['status', '-c', '/etc/skep.yaml'])).toBeUndefined();
  expect(devAdvice('cluster-unreachable', ['status', '--kubeconfig=prod'])).toBeUndefined();
});

test('there is no advice for other failures, or if skep dev never ran', () => {
  expect(devAdvice('cluster-unreachable', ['status'])).toBeUndefined();
  put('.skep/dev/skep.yaml');
  expect(devAdvice('git-unreachable', ['status'])).toBeUndefined();
});
