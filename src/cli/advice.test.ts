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

test('a command of another tool gets advice, and a name that every object inherits gets none', () => {
  expect(commandAdvice('up')).toBe('skep dev starts a fleet on this machine');
  expect(commandAdvice('constructor')).toBeUndefined();
});

test('advice about an option of another tool follows the message', () => {
  expect(withOptionAdvice("error usage: unknown option '--token'\n")).toBe(
    "error usage: unknown option '--token': write the token into a file, and name it with --token-file\n",
  );
  expect(withOptionAdvice("error usage: unknown option '--x'\n")).toBe("error usage: unknown option '--x'\n");
});

test('without a kubeconfig, the advice names the configurations of skep dev', () => {
  put('skep.yaml', '.skep/dev-fleet/skep.yaml', '.skep/dev-other/empty');
  expect(devAdvice('cluster-config-invalid', ['status'])).toBe(
    'skep dev runs a fleet of this folder in its own cluster: select it with -c .skep/dev-fleet/skep.yaml',
  );
});

test('if the cluster of skep dev does not respond, the advice says that skep dev does not run', () => {
  put('.skep/dev/skep.yaml');
  expect(devAdvice('cluster-unreachable', ['history'])).toBe(RUNNING);
  expect(devAdvice('database-unreachable', ['history'])).toBe(RUNNING);
  put('skep.yaml');
  expect(devAdvice('cluster-unreachable', ['status'])).toBeUndefined();
  expect(devAdvice('cluster-unreachable', ['status', '-c', '.skep/dev/skep.yaml'])).toBe(RUNNING);
});

test('a command with another configuration gets no advice about skep dev', () => {
  put('.skep/dev/skep.yaml');
  expect(devAdvice('cluster-unreachable', ['status', '-c', '/etc/skep.yaml'])).toBeUndefined();
  expect(devAdvice('cluster-unreachable', ['status', '--kubeconfig=prod'])).toBeUndefined();
});

test('there is no advice for other failures, or if skep dev never ran', () => {
  expect(devAdvice('cluster-unreachable', ['status'])).toBeUndefined();
  put('.skep/dev/skep.yaml');
  expect(devAdvice('git-unreachable', ['status'])).toBeUndefined();
});
