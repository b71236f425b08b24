// Tests which plan files are accepted: signed files if signatures are required, and no expired files.

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatPlanFile, planFileOf } from '#reconciler/run/plan-file/plan-file.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { sshSigningKey } from '../../../../test/harness/git-keys.ts';
import { temporaryFolder } from '../../../../test/harness/git-server.ts';
import type { Config } from '../../config/config.ts';
import { readConfig } from '../../config/read-config.ts';
import { assertComplete, readPlanFile, writeWhole } from './plan-files.ts';

const MADE = '2026-01-01T00:00:00.000Z';
const SOON = Date.parse('2026-01-01T01:00:00.000Z');

const TEXT = formatPlanFile(
  planFileOf({
    binding: {
      tool: { name: 'skep/1', digest: sha256('tool') },
      instance: 'prod',
      cluster: { homeNamespace: 'skep', uid: 'home' },
      settings: {},
    },
    sources: [],
    createdAt: MADE,
    prepared: {
      plan: { batches: [], held: [], unchanged: [], waiting: [], approved: [], within: [] },
      snapshot: { find: () => undefined },
    },
    key: undefined,
  }),
);

const folder = temporaryFolder();
const file = join(folder.path, 'fleet.plan');

afterAll(() => folder.remove());

beforeEach(() => {
  rmSync(`${file}.sig`, { force: true });
  writeFileSync(file, TEXT);
});

function configured(plans: object): Config {
  const text = JSON.stringify({ sources: [{ name: 'fleet', repository: 'https://git.example.com/fleet.git' }], plans });
  return readConfig({ text, file: 'skep.yaml', environment: {} });
}

test('a plan that is older than plans.expiresHours is refused', async () => {
  const config = configured({ expiresHours: 1 });
  expect((await readPlanFile(file, config, SOON)).plan.createdAt).toBe(MADE);
  const refused = readPlanFile(file, config, SOON + 1);
  await expect(refused).rejects.toMatchObject({
    code: 'plan-expired',
    message: expect.stringContaining('1 hours ago'),
  });
});

test('a missing file is a usage failure', async () => {
  await expect(readPlanFile(`${file}.gone`, configured({}), SOON)).rejects.toMatchObject({ code: 'usage' });
});

test('a plan is not written if a source or a kind could not be read, but is written if only the catalogue could not be read', () => {
  const [away, nothing] = [new Failure('git-unreachable', 'nobody is there'), [] as Failure[]];
  for (const [sources, lists, refused] of [
    [[away], nothing, true],
    [nothing, [away], true],
    [nothing, nothing, false],
  ] as const) {
    const check = () => assertComplete(file, { gathered: { failures: sources }, snapshot: { failures: () => lists } });
    if (refused) expect(check).toThrow(expect.objectContaining({ code: 'plan-incomplete' }));
    else expect(check).not.toThrow();
  }
});

test('the message about a plan file that cannot be written contains its path', async () => {
  const path = join(file, 'below', 'fleet.plan');
  await expect(writeWhole(path, TEXT)).rejects.toMatchObject({
    code: 'file-not-written',
    message: expect.stringContaining(path),
  });
});

test('signed plans can be required only if keys are configured', () => {
  expect(() => configured({ require: 'signed' })).toThrow(/plans.keys|signed plans can be required only/);
});

const hasSigner = spawnSync('ssh-keygen', ['-?']).error === undefined;
if (!hasSigner) process.stderr.write('skipped: signatures of plan files, as there is no ssh-keygen here\n');

describe.skipIf(!hasSigner)('a signature by ssh-keygen', () => {
  let trusted: string;
  let stranger: string;

  beforeAll(() => {
    trusted = sshSigningKey(folder.path, 'trusted').publicFile;
    stranger = sshSigningKey(folder.path, 'stranger').publicFile;
  });

  function sign(publicFile: string, namespace = 'skep-plan'): void {
    const key = publicFile.slice(0, -'.pub'.length);
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', key, file], { stdio: 'ignore' });
  }

  function read(plans: object = { require: 'signed', keys: [trusted] }) {
    return readPlanFile(file, configured(plans), SOON);
  }

  test('by a key in a key file or in a file allowed_signers is accepted', async () => {
    sign(trusted);
    expect((await read()).plan.instance).toBe('prod');
    const signers = join(folder.path, 'signers');
    writeFileSync(signers, `ci@example.com namespaces="skep-plan" ${readFileSync(trusted, 'utf8')}`);
    expect((await read({ require: 'signed', keys: [signers] })).plan.instance).toBe('prod');
    writeFileSync(signers, `ci@example.com namespaces="git" ${readFileSync(trusted, 'utf8')}`);
    await expect(read({ require: 'signed', keys: [signers] })).rejects.toMatchObject({
      code: 'git-verify-keys-unusable',
    });
  });

  test('by an unknown key, for another purpose, or of another file is refused', async () => {
    sign(stranger);
    await expect(read()).rejects.toMatchObject({ code: 'plan-signature-untrusted' });
    rmSync(`${file}.sig`);
    sign(trusted, 'git');
    await expect(read()).rejects.toMatchObject({
      code: 'plan-signature-invalid',
      message: expect.stringContaining('"git"'),
    });
    rmSync(`${file}.sig`);
    sign(trusted);
    writeFileSync(file, TEXT.replace('prod', 'evil'));
    await expect(read()).rejects.toMatchObject({
      code: 'plan-signature-invalid',
      message: expect.stringContaining('does not match its signature'),
    });
    copyFileSync(trusted, `${file}.sig`);
    await expect(read()).rejects.toMatchObject({
      code: 'plan-signature-invalid',
      message: expect.stringContaining('is not a signature'),
    });
  });

  test('may be missing if none is required; an existing signature must be valid', async () => {
    await expect(read()).rejects.toMatchObject({ code: 'plan-signature-missing' });
    expect((await read({ keys: [trusted] })).plan.instance).toBe('prod');
    sign(stranger);
    await expect(read({ keys: [trusted] })).rejects.toMatchObject({ code: 'plan-signature-untrusted' });
    expect((await read({})).plan.instance).toBe('prod');
  });
});
