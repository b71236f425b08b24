// Tests which commits and tags, signed by real git with keys of ssh-keygen and gpg, are accepted, and how each refusal
// is reported. In one file, because the creation of the keys takes longest and all tests share them.

import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, test as everyTest, expect } from 'vitest';
import type { Repository } from '#reconciler/run/ports.ts';
import { failureOf, open, serve, textOf } from '../../../../test/harness/git-client.ts';
import {
  type Gpg,
  gpgHome,
  type SigningKey,
  sshSigningKey,
  withoutSigners,
} from '../../../../test/harness/git-keys.ts';
import { createRepository, type TestRepository, temporaryFolder } from '../../../../test/harness/git-server.ts';
import type { GitOptions } from '../repository.ts';
import { signedCommit, signedTag } from './signed.ts';
import { checkSshSignature } from './ssh-signature.ts';
import { wireBytes } from './ssh-wire.ts';

const without = withoutSigners();
if (without !== undefined) process.stderr.write(`${without}\n`);
const test = everyTest.skipIf(without !== undefined);

const folder = temporaryFolder();
const gpg: Gpg = gpgHome(folder.path);
let names = 0;

afterAll(() => {
  if (without === undefined) gpg.close();
  folder.remove();
});

function ssh(...type: readonly string[]): SigningKey {
  names += 1;
  return sshSigningKey(folder.path, `key${names}`, ...type);
}

function pgp(settings: Parameters<Gpg['signingKey']>[1] = {}): SigningKey {
  names += 1;
  return gpg.signingKey(`key${names}`, settings);
}

function repository(): TestRepository {
  names += 1;
  return createRepository(join(folder.path, `repository${names}`));
}

function commitBy({ git }: TestRepository, key: SigningKey | undefined, message = 'signed'): string {
  const signing = key === undefined ? [] : ['-S'];
  git(...(key?.arguments ?? []), 'commit', '--quiet', '--allow-empty', ...signing, '--message', message);
  return git('rev-parse', 'HEAD');
}

function opened(
  { dir }: TestRepository,
  keys: readonly string[],
  options: { mode?: 'head' | 'tag' | 'both'; ref?: GitOptions['ref'] } = {},
): Repository {
  const { mode = 'head', ref = {} } = options;
  return open(`file://${dir}`, { allowFiles: true, ref, verify: { mode, keys } });
}

async function refusal(of: Repository): Promise<string> {
  return (await failureOf(() => of.fetch())).code;
}

function written(name: string, text: string | Buffer): string {
  names += 1;
  const file = join(folder.path, `${names}-${name}`);
  writeFileSync(file, text);
  return file;
}

/** Sets the branch or tag to an object with this text, which git does not check. */
function forge({ git }: TestRepository, type: 'commit' | 'tag', text: string, ref = 'refs/heads/main'): void {
  git(
    'update-ref',
    ref,
    git('hash-object', '-w', '--literally', '-t', type, written('object', Buffer.from(text, 'latin1'))),
  );
}

function rawOf({ dir }: TestRepository, type: 'commit' | 'tag', name: string): string {
  return execFileSync('git', ['-C', dir, 'cat-file', type, name]).toString('latin1');
}

describe('each type of key', () => {
  const sorts: readonly (readonly [string, () => SigningKey])[] = [
    ['ssh ed25519', () => ssh()],
    ['ssh ecdsa of 256 bits', () => ssh('-t', 'ecdsa', '-b', '256')],
    ['ssh ecdsa of 384 bits', () => ssh('-t', 'ecdsa', '-b', '384')],
    ['ssh ecdsa of 521 bits', () => ssh('-t', 'ecdsa', '-b', '521')],
    ['ssh rsa', () => ssh('-t', 'rsa', '-b', '2048')],
    ['OpenPGP ed25519', () => pgp()],
    ['OpenPGP rsa', () => pgp({ algorithm: 'rsa2048' })],
    ['OpenPGP nistp256', () => pgp({ algorithm: 'nistp256' })],
  ];
  test.each(sorts)(
    '%s: the signature is valid, invalid after a change, and untrusted with another key',
    async (_name, make) => {
      const key = make();
      const fleet = repository();
      const commit = commitBy(fleet, key, 'a message\n\nwith lines -----BEGIN PGP SIGNATURE----- in it');
      expect((await opened(fleet, [key.publicFile]).fetch()).commit).toBe(commit);
      expect(await refusal(opened(fleet, [ssh().publicFile]))).toBe('git-signature-untrusted');
      const raw = rawOf(fleet, 'commit', 'HEAD');
      forge(fleet, 'commit', raw.replace('a message', 'b message'));
      expect(await refusal(opened(fleet, [key.publicFile]))).toBe('git-signature-invalid');
      forge(fleet, 'commit', raw.replace('\nauthor Test', '\nauthor Best'));
      expect(await refusal(opened(fleet, [key.publicFile]))).toBe('git-signature-invalid');
    },
  );
});

test('unsigned and untrusted commits are refused, and the next commit with a trusted signature is fetched', async () => {
  const server = await serve();
  const fleet = server.createRepository('fleet.git');
  const [own, strange] = [ssh(), ssh()];
  const by = (key: SigningKey | undefined, text: string) => {
    fleet.commit({ 'a.yaml': text });
    fleet.git(
      ...(key?.arguments ?? []),
      'commit',
      '--quiet',
      '--amend',
      '--no-edit',
      ...(key === undefined ? [] : ['-S']),
    );
    fleet.publish();
  };
  const url = `${server.url}/fleet.git`;
  const followed = open(url, { verify: { mode: 'head', keys: [own.publicFile] } });
  by(own, 'first');
  const before = await followed.fetch();
  by(undefined, 'unsigned');
  const failure = await failureOf(() => followed.fetch());
  expect([failure.code, failure.retryable, failure.message]).toEqual([
    'git-signature-missing',
    false,
    `${url}, the default branch: commit ${fleet.git('rev-parse', 'HEAD')} has no signature, or more than one`,
  ]);
  by(strange, 'strange');
  expect(await refusal(followed)).toBe('git-signature-untrusted');
  expect(await textOf(before)).toEqual({ 'a.yaml': 'first' });
  by(own, 'second');
  expect(await textOf(await followed.fetch())).toEqual({ 'a.yaml': 'second' });
});

test('removed and added keys apply to the next fetch, even without a new commit', async () => {
  const fleet = repository();
  const [old, current] = [ssh(), pgp()];
  commitBy(fleet, current);
  const file = written('keys', readFileSync(current.publicFile));
  const followed = opened(fleet, [old.publicFile, file]);
  await followed.fetch();
  writeFileSync(file, readFileSync(old.publicFile));
  expect(await refusal(followed)).toBe('git-signature-untrusted');
  writeFileSync(file, `${readFileSync(pgp().publicFile, 'utf8')}\n${readFileSync(current.publicFile, 'utf8')}`);
  await followed.fetch();
});

test('a signature for another content or purpose is refused', async () => {
  const fleet = repository();
  const key = ssh();
  commitBy(fleet, key, 'one');
  const signature = /\ngpgsig [\s\S]*?-----END SSH SIGNATURE-----/.exec(rawOf(fleet, 'commit', 'HEAD'))?.[0] ?? '';
  commitBy(fleet, undefined, 'two');
  const unsigned = rawOf(fleet, 'commit', 'HEAD');
  const withSignature = (header: string) => unsigned.replace('\n\n', `${header}\n\n`);
  forge(fleet, 'commit', withSignature(signature));
  expect(await refusal(opened(fleet, [key.publicFile]))).toBe('git-signature-invalid');
  // The commit has two signatures, so different readers could verify different signatures.
  forge(fleet, 'commit', withSignature(signature + signature));
  expect(await refusal(opened(fleet, [key.publicFile]))).toBe('git-signature-missing');
  forge(
    fleet,
    'commit',
    withSignature('\ngpgsig -----BEGIN SIGNED MESSAGE-----\n MIIB\n -----END SIGNED MESSAGE-----'),
  );
  expect(await refusal(opened(fleet, [key.publicFile]))).toBe('git-signature-invalid');
  // Key and payload are correct, but the purpose of the signature is a file instead of a commit.
  const payload = written('payload', Buffer.from(unsigned, 'latin1'));
  const keyFile = key.publicFile.slice(0, -'.pub'.length);
  for (const [namespace, expected] of [
    ['file', 'git-signature-invalid'],
    ['git', 'taken'],
  ] as const) {
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', keyFile, '-n', namespace, payload], { stdio: 'ignore' });
    const armored = readFileSync(`${payload}.sig`, 'latin1').trim().replaceAll('\n', '\n ');
    forge(fleet, 'commit', withSignature(`\ngpgsig ${armored}`));
    const answer = await opened(fleet, [key.publicFile])
      .fetch()
      .then(
        () => 'taken',
        (error) => error.code,
      );
    expect([namespace, answer]).toEqual([namespace, expected]);
    execFileSync('rm', [`${payload}.sig`]);
  }
});

test('a signature by an OpenPGP key that expired later is valid, a signature by a revoked key is invalid', async () => {
  const fleet = repository();
  const expired = pgp({ time: '20200101T000000', expires: '1d' });
  const commit = commitBy(fleet, expired);
  expect((await opened(fleet, [expired.publicFile]).fetch()).commit).toBe(commit);
  const revoked = pgp();
  commitBy(fleet, revoked);
  await opened(fleet, [revoked.publicFile]).fetch();
  gpg.revoke(revoked);
  expect(await refusal(opened(fleet, [revoked.publicFile]))).toBe('git-signature-invalid');
});

describe('tags', () => {
  test.each([
    { mode: 'tag', tag: 'signed', expected: 'taken', reason: 'the commit needs no signature' },
    { mode: 'both', tag: 'signed', expected: 'git-signature-missing', reason: 'the commit has none' },
    { mode: 'both', tag: 'all', expected: 'taken', reason: 'both are signed' },
    { mode: 'head', tag: 'signed', expected: 'git-signature-missing', reason: 'the tag does not count' },
    { mode: 'tag', tag: 'light', expected: 'git-signature-missing', reason: 'there is no tag object' },
    { mode: 'tag', tag: 'annotated', expected: 'git-signature-missing', reason: 'nobody signed it' },
    { mode: 'tag', tag: 'v2.0.0', expected: 'git-signature-invalid', reason: 'it is an old tag under a new name' },
    { mode: 'tag', tag: 'altered', expected: 'git-signature-invalid', reason: 'its message was altered' },
    { mode: 'tag', tag: 'strange', expected: 'git-signature-untrusted', reason: 'it is by another key' },
    { mode: 'tag', branch: 'main', expected: 'git-signature-missing', reason: 'a branch is not a tag' },
  ] as const)('$mode with $tag is $expected: $reason', async ({ mode, expected, ...ref }) => {
    for (const make of [ssh, pgp]) {
      const fleet = repository();
      const [key, strange] = [make(), make()];
      const tag = (name: string, by?: SigningKey) =>
        fleet.git(
          ...(by?.arguments ?? []),
          'tag',
          by === undefined ? '--annotate' : '--sign',
          name,
          '--message',
          `of ${name}`,
        );
      commitBy(fleet, undefined);
      tag('signed', key);
      tag('annotated');
      tag('strange', strange);
      tag('v1.0.0', key);
      fleet.git('tag', 'light');
      fleet.git('update-ref', 'refs/tags/v2.0.0', 'refs/tags/v1.0.0');
      tag('altered', key);
      forge(fleet, 'tag', rawOf(fleet, 'tag', 'altered').replace('of altered', 'is altered'), 'refs/tags/altered');
      commitBy(fleet, key);
      tag('all', key);
      const answer = await opened(fleet, [key.publicFile], { mode, ref })
        .fetch()
        .then(
          () => 'taken',
          (error) => error.code,
        );
      expect(answer).toBe(expected);
    }
  });
});

test.each([
  { name: 'absent', text: undefined, says: 'it cannot be read' },
  { name: 'empty', text: '# nothing\n', says: 'it holds no key' },
  { name: 'garbage', text: 'hunter2\n', says: 'is not a public key of a known type' },
  { name: 'dsa', text: 'ssh-dss AAAA x\n', says: 'is not a public key of a known type' },
  { name: 'cut', text: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA x\n', says: 'ends too soon' },
  { name: 'authority', text: '* cert-authority ssh-ed25519 AAAA\n', says: 'option cert-authority' },
  {
    name: 'armor',
    text: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n',
    says: '',
  },
])('a key file that is $name is a failure', async ({ name, text, says }) => {
  const fleet = repository();
  commitBy(fleet, undefined);
  const file = text === undefined ? join(folder.path, name) : written(name, text);
  const failure = await failureOf(() => opened(fleet, [file]).fetch());
  expect([failure.code, failure.message]).toEqual(['git-verify-keys-unusable', expect.stringContaining(says)]);
});

test('keys are read from an allowed_signers file, and a file with an unknown option is refused', async () => {
  const fleet = repository();
  const key = ssh();
  const commit = commitBy(fleet, key);
  const line = `somebody@example.com namespaces="git" ${readFileSync(key.publicFile, 'utf8')}`;
  expect((await opened(fleet, [written('signers', `# people\n\n${line}`)]).fetch()).commit).toBe(commit);
  const limited = written(
    'limited',
    `somebody@example.com valid-before="20200101" ${readFileSync(key.publicFile, 'utf8')}`,
  );
  expect(await refusal(opened(fleet, [limited]))).toBe('git-verify-keys-unusable');
});

test('RSA keys that are too short are refused', async () => {
  const fleet = repository();
  const key = ssh('-t', 'rsa', '-b', '1024');
  commitBy(fleet, undefined);
  expect(await refusal(opened(fleet, [key.publicFile]))).toBe('git-verify-keys-unusable');
});

test('a commit or tag without a complete signature is not signed', () => {
  expect(signedCommit(Buffer.from(''))).toBeUndefined();
  expect(signedCommit(Buffer.from('tree x'))).toBeUndefined();
  expect(signedTag(Buffer.from('object x\n\n-----BEGIN NOTHING-----\n'))).toBeUndefined();
});

/** Returns a signature as a security token creates it (PROTOCOL.u2f, SSH U2F Signatures). */
function tokenSignature(
  payload: Buffer,
  sort: 'ed25519' | 'ecdsa',
  flags: number,
): { publicKey: Buffer; armored: string } {
  const application = 'ssh:';
  const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
  const signed = Buffer.concat([
    Buffer.from('SSHSIG'),
    wireBytes('git'),
    wireBytes(''),
    wireBytes('sha256'),
    wireBytes(sha256(payload)),
  ]);
  const rest = Buffer.concat([Buffer.of(flags), Buffer.of(0, 0, 0, 7)]);
  const message = Buffer.concat([sha256(application), rest, sha256(signed)]);
  const { type, point, value } = sort === 'ed25519' ? edwards(message) : curve(message);
  const publicKey = Buffer.concat([wireBytes(type), point, wireBytes(application)]);
  const signature = Buffer.concat([wireBytes(type), wireBytes(value), rest]);
  const blob = Buffer.concat([
    Buffer.from('SSHSIG'),
    Buffer.of(0, 0, 0, 1),
    ...[publicKey, 'git', '', 'sha256', signature].map(wireBytes),
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? [];
  return { publicKey, armored: `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n` };
}

function coordinate(key: KeyObject, name: 'x' | 'y'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');
}

function edwards(message: Buffer) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const point = wireBytes(coordinate(publicKey, 'x'));
  return { type: 'sk-ssh-ed25519@openssh.com', point, value: sign(null, message, privateKey) };
}

function curve(message: Buffer) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const raw = Buffer.concat([Buffer.of(4), coordinate(publicKey, 'x'), coordinate(publicKey, 'y')]);
  const point = Buffer.concat([wireBytes('nistp256'), wireBytes(raw)]);
  const pair = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const mpint = (bytes: Buffer) => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const short = bytes.subarray(start);
    return wireBytes((short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), short]) : short);
  };
  const value = Buffer.concat([mpint(pair.subarray(0, 32)), mpint(pair.subarray(32))]);
  return { type: 'sk-ecdsa-sha2-nistp256@openssh.com', point, value };
}

test.each(['ed25519', 'ecdsa'] as const)('keys in security tokens, %s: the result is that of OpenSSH', (sort) => {
  const payload = Buffer.from('what was signed');
  const { publicKey, armored } = tokenSignature(payload, sort, 0x01);
  const type = sort === 'ed25519' ? 'sk-ssh-ed25519@openssh.com' : 'sk-ecdsa-sha2-nistp256@openssh.com';
  const signers = written('signers', `me ${type} ${publicKey.toString('base64')}\n`);
  const check = ['-Y', 'verify', '-f', signers, '-I', 'me', '-n', 'git', '-s', written('sig', armored)];
  expect(execFileSync('ssh-keygen', check, { input: payload, encoding: 'utf8' })).toContain('Good "git" signature');
  expect(checkSshSignature(armored, payload)).toEqual({ good: true, publicKey });
  expect(checkSshSignature(armored, Buffer.from('something else')).good).toBe(false);
  expect(() => checkSshSignature(tokenSignature(payload, sort, 0x00).armored, payload)).toThrow('was not touched');
});
