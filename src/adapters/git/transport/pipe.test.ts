// Tests repositories behind a real git daemon and a real sshd: results and costs of a fetch, and how each refusal is
// reported. In one file, because all tests share one sshd and one git daemon.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  everything,
  failureOf,
  manyFiles,
  open,
  serveDaemon,
  serveSsh,
  stateDir,
  textOf,
} from '../../../../test/harness/git-client.ts';
import { type SshServer, withoutSshd } from '../../../../test/harness/git-inetd.ts';
import { createOutbound } from '../../http/outbound.ts';

describe('git daemon', () => {
  test('later commits are fetched, each with one connection and only the new objects', async () => {
    const server = await serveDaemon();
    const repository = server.createRepository('fleet.git');
    repository.commit({ ...manyFiles(), 'a.yaml': 'first' });
    const opened = open(`git://127.0.0.1:${server.port}/fleet.git`);
    expect(await textOf(await opened.fetch())).toMatchObject({ 'a.yaml': 'first' });
    expect(server.connections).toHaveLength(1);
    server.forget();
    const commit = repository.commit({ 'a.yaml': 'second' });
    const checkout = await opened.fetch();
    expect(checkout.commit).toBe(commit);
    expect(await textOf(checkout)).toMatchObject({ 'a.yaml': 'second' });
    expect(server.connections).toHaveLength(1);
    expect(server.connections[0]?.bytes).toBeLessThan(3_000);
    server.forget();
    expect((await opened.fetch()).commit).toBe(commit);
    expect(server.connections).toHaveLength(1);
  });

  test('a missing repository, a missing branch, an unavailable commit and an empty repository are refused', async () => {
    const server = await serveDaemon();
    const url = `git://127.0.0.1:${server.port}`;
    server.createRepository('empty.git');
    server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
    const rows = [
      { opened: open(`${url}/other.git`), code: 'git-not-a-repository' },
      { opened: open(`${url}/fleet.git`, { ref: { branch: 'gone' } }), code: 'git-ref-not-found' },
      { opened: open(`${url}/fleet.git`, { ref: { commit: '1'.repeat(40) } }), code: 'git-ref-not-found' },
      { opened: open(`${url}/empty.git`), code: 'git-ref-not-found' },
    ];
    for (const { opened, code } of rows) {
      expect((await failureOf(() => opened.fetch())).code).toBe(code);
    }
  });

  test('a silent server, a lost connection, another protocol, a private address and a closed port are reported', async () => {
    const silent = await serveDaemon(() => true);
    const broken = await serveDaemon((socket) => socket.destroy() !== undefined);
    const other = await serveDaemon((socket) => socket.end('220 mail.example.com ESMTP\r\n') !== undefined);
    const urlOf = ({ port }: { readonly port: number }) => `git://127.0.0.1:${port}/fleet.git`;
    const gone = urlOf(broken);
    const rows = [
      { url: urlOf(silent), code: 'git-unreachable', says: 'no answer within 300 ms' },
      { url: urlOf(broken), code: 'git-protocol-error', says: 'the server hung up' },
      { url: urlOf(other), code: 'git-protocol-error', says: 'does not speak Git\'s protocol but says "220 mail' },
    ];
    for (const { url, code, says } of rows) {
      const failure = await failureOf(() => open(url, { limits: { timeoutMs: 300 } }).fetch());
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(says)]);
      expect(failure.message).toContain(`${url}, the default branch: `);
    }
    const guarded = createOutbound({ allowPrivate: [], version: '0' });
    const refused = await failureOf(() => open(gone, { outbound: guarded }).fetch());
    expect([refused.code, refused.data.outbound]).toEqual(['git-unreachable', 'outbound-refused-address']);
    await broken.close();
    const closed = await failureOf(() => open(gone).fetch());
    expect([closed.code, closed.message]).toEqual(['git-unreachable', expect.stringContaining('connection refused')]);
  });

  test('after a broken transfer the last copy remains, and the next fetch succeeds', async () => {
    let left = Number.POSITIVE_INFINITY;
    const server = await serveDaemon((socket) => {
      const write = socket.write.bind(socket);
      socket.write = (chunk: Uint8Array | string, ...rest: never[]) => {
        left -= chunk.length;
        if (left > 0) return write(chunk, ...rest);
        socket.destroy();
        return false;
      };
      return false;
    });
    const repository = server.createRepository('fleet.git');
    repository.commit({ 'a.yaml': 'first' });
    const opened = open(`git://127.0.0.1:${server.port}/fleet.git`);
    const before = await opened.fetch();
    repository.commit({ 'a.yaml': 'second', 'b.bin': Buffer.from(manyFiles(50)['d0/f0.yaml']?.repeat(30) ?? '') });
    left = 700;
    const failure = await failureOf(() => opened.fetch());
    expect([failure.retryable, ['git-unreachable', 'git-protocol-error'].includes(failure.code)]).toEqual([true, true]);
    expect(await textOf(before)).toEqual({ 'a.yaml': 'first' });
    left = Number.POSITIVE_INFINITY;
    expect(await textOf(await opened.fetch())).toMatchObject({ 'a.yaml': 'second' });
  });

  test('a response over the limit is stopped', async () => {
    const server = await serveDaemon();
    server.createRepository('fleet.git').commit(manyFiles());
    const opened = open(`git://127.0.0.1:${server.port}/fleet.git`, { limits: { maxPackBytes: 4_000 } });
    expect((await failureOf(() => opened.fetch())).code).toBe('git-too-large');
  });
});

const without = withoutSshd();
if (without !== undefined) process.stderr.write(`${without}\n`);

describe.skipIf(without !== undefined)('ssh', () => {
  const keysOf = ({ keyFile, knownHostsFile }: SshServer) => ({ ssh: { keyFile, knownHostsFile } });

  test('later commits are fetched, each with one connection, even if paths need quotes', async () => {
    const server = await serveSsh();
    const name = "it's a $(touch pwned) fleet!.git";
    const repository = server.createRepository(name);
    repository.commit({ 'a.yaml': 'first' });
    const opened = open(`${server.url}/${encodeURIComponent(name)}`, keysOf(server));
    expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': 'first' });
    expect(server.connections).toHaveLength(1);
    repository.commit({ 'a.yaml': 'second' });
    expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': 'second' });
    expect((await opened.fetch()).commit).toBe(repository.git('rev-parse', 'HEAD'));
    expect(server.connections).toHaveLength(3);
  });

  test('an empty repository lacks the branch, as over HTTP', async () => {
    const server = await serveSsh();
    server.createRepository('empty.git');
    const opened = open(`${server.url}/empty.git`, { ...keysOf(server), ref: { branch: 'main' } });
    const failure = await failureOf(() => opened.fetch());
    expect([failure.code, failure.message]).toEqual([
      'git-ref-not-found',
      expect.stringContaining('it has no branch "main"'),
    ]);
  });

  test('nothing is sent to a server with an unknown or a different host key', async () => {
    const server = await serveSsh();
    server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
    const other = readFileSync(`${server.createKey('other', false)}.pub`, 'utf8').trim();
    const lines = {
      unknown: '',
      changed: `[127.0.0.1]:${server.port} ${other}\n`,
      port: `127.0.0.1 ${server.hostKey}\n`,
    };
    for (const [name, text] of Object.entries(lines)) {
      const knownHostsFile = join(server.folder, name);
      writeFileSync(knownHostsFile, text);
      const failure = await failureOf(() =>
        open(`${server.url}/fleet.git`, { ssh: { keyFile: server.keyFile, knownHostsFile } }).fetch(),
      );
      expect([name, failure.code, failure.retryable]).toEqual([name, 'git-ssh-host-unknown', false]);
      // The file is unchanged, because unknown keys are not added.
      expect(readFileSync(knownHostsFile, 'utf8')).toBe(text);
    }
  });

  test('a refused key, a missing repository and a file that is not a key are reported', async () => {
    const server = await serveSsh();
    server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
    const { knownHostsFile } = server;
    const noKey = join(server.folder, 'no-key');
    writeFileSync(noKey, 'hunter2', { mode: 0o600 });
    const stranger = server.createKey('stranger', false);
    const rows = [
      { path: 'fleet.git', keyFile: stranger, code: 'git-auth-required', says: 'Permission denied' },
      { path: 'other.git', keyFile: server.keyFile, code: 'git-not-a-repository', says: 'not appear to be a git' },
      { path: 'fleet.git', keyFile: noKey, code: 'git-ssh-key-unusable', says: 'it is not a private key' },
    ];
    for (const { path, keyFile, code, says } of rows) {
      const opened = open(`${server.url}/${path}`, { ssh: { keyFile, knownHostsFile } });
      const failure = await failureOf(() => opened.fetch());
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(says)]);
      expect(everything(failure)).not.toContain('hunter2');
    }
  });

  test('a key file that is missing or that other users can read is refused', async () => {
    const server = await serveSsh();
    const { knownHostsFile } = server;
    const shared = server.createKey('shared', true);
    chmodSync(shared, 0o644);
    const rows = [
      { keyFile: shared, says: 'its mode 644 lets others read it' },
      { keyFile: join(server.folder, 'absent'), says: 'it cannot be read' },
      { keyFile: server.folder, says: 'it cannot be read' },
      { keyFile: `${server.keyFile}\${HOME}`, says: 'ssh gives a meaning to' },
    ];
    for (const { keyFile, says } of rows) {
      const failure = await failureOf(() =>
        open(`${server.url}/fleet.git`, { ssh: { keyFile, knownHostsFile } }).fetch(),
      );
      expect([failure.code, failure.message]).toEqual(['git-ssh-key-unusable', expect.stringContaining(says)]);
    }
    expect(server.connections).toHaveLength(0);
  });

  const damages: Readonly<Record<string, (text: string) => string>> = {
    'CRLF line ends': (text) => text.replaceAll('\n', '\r\n'),
    'a blank line first': (text) => `\n${text}`,
    'no last newline': (text) => text.trimEnd(),
    'a byte order mark and indented lines': (text) => `\uFEFF${text.replaceAll(/^/gm, '  ')}`,
  };
  test.each(Object.entries(damages))('a key with %s is repaired in a copy that is removed', async (name, damage) => {
    const server = await serveSsh();
    server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
    const { knownHostsFile } = server;
    const keyFile = join(server.folder, name);
    writeFileSync(keyFile, damage(readFileSync(server.keyFile, 'utf8')), { mode: 0o600 });
    const dir = stateDir();
    const opened = open(`${server.url}/fleet.git`, { ssh: { keyFile, knownHostsFile }, dir });
    expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': 'a' });
    expect(readdirSync(dir).filter((entry) => entry.startsWith('ssh-'))).toEqual([]);
    chmodSync(keyFile, 0o644);
    expect((await failureOf(() => opened.fetch())).message).toContain('its mode 644 lets others read it');
  });

  test('the repaired copy of a key is removed after the server refused the key', async () => {
    const server = await serveSsh();
    const keyFile = server.createKey('stranger', false);
    writeFileSync(keyFile, readFileSync(keyFile, 'utf8').trimEnd());
    const dir = stateDir();
    const ssh = { keyFile, knownHostsFile: server.knownHostsFile };
    const failure = await failureOf(() => open(`${server.url}/fleet.git`, { ssh, dir }).fetch());
    expect([failure.code, readdirSync(dir)]).toEqual(['git-auth-required', []]);
  });

  test.each(['repaired', 'as it is'])('copies left by a killed process are removed, with a key %s', async (how) => {
    const server = await serveSsh();
    server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
    const keyFile = join(server.folder, 'own');
    const text = readFileSync(server.keyFile, 'utf8');
    writeFileSync(keyFile, how === 'repaired' ? text.trimEnd() : text, { mode: 0o600 });
    const dir = stateDir();
    for (const name of ['ssh-killed', 'ssh-inuse', 'other']) {
      mkdirSync(join(dir, name), { recursive: true });
      writeFileSync(join(dir, name, 'key'), text, { mode: 0o600 });
    }
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const name of ['ssh-killed', 'other']) utimesSync(join(dir, name), hourAgo, hourAgo);
    await open(`${server.url}/fleet.git`, { ssh: { keyFile, knownHostsFile: server.knownHostsFile }, dir }).fetch();
    const left = readdirSync(dir).filter((name) => ['ssh-killed', 'ssh-inuse', 'other'].includes(name));
    expect(left.sort()).toEqual(['other', 'ssh-inuse']);
  });

  test.each([
    ['OpenSSH', ['-t', 'ed25519']],
    ['PKCS#8', ['-t', 'rsa', '-m', 'PKCS8']],
    ['PEM', ['-t', 'rsa', '-m', 'PEM']],
  ])('a key with a passphrase (%s) is reported as such, and nothing is sent', async (name, args) => {
    const server = await serveSsh();
    const keyFile = join(server.folder, `locked-${name.replace('#', '')}`);
    execFileSync('ssh-keygen', ['-q', ...args, '-N', 'a passphrase', '-C', '', '-f', keyFile]);
    writeFileSync(keyFile, readFileSync(keyFile, 'utf8').replaceAll('\n', '\r\n'));
    const ssh = { keyFile, knownHostsFile: server.knownHostsFile };
    const failure = await failureOf(() => open(`${server.url}/fleet.git`, { ssh }).fetch());
    expect([failure.code, failure.message]).toEqual([
      'git-ssh-key-locked',
      expect.stringContaining(
        `the key has a passphrase, which skep cannot enter: remove the passphrase (ssh-keygen -p`,
      ),
    ]);
    expect(server.connections).toHaveLength(0);
  });

  test('a public key, a PuTTY key and a file that is too large are reported', async () => {
    const server = await serveSsh();
    const rows = {
      public: { text: readFileSync(`${server.keyFile}.pub`, 'utf8'), says: 'it holds a public key' },
      putty: { text: 'PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\n', says: 'the format of PuTTY' },
      large: { text: 'x'.repeat(70_000), says: 'it has 70000 bytes' },
    };
    for (const [name, { text, says }] of Object.entries(rows)) {
      const keyFile = join(server.folder, name);
      writeFileSync(keyFile, text, { mode: 0o600 });
      const ssh = { keyFile, knownHostsFile: server.knownHostsFile };
      const failure = await failureOf(() => open(`${server.url}/fleet.git`, { ssh }).fetch());
      expect([failure.code, failure.message]).toEqual(['git-ssh-key-unusable', expect.stringContaining(says)]);
    }
    expect(server.connections).toHaveLength(0);
  });

  test('a silent server, a private address and a closed port are reported', async () => {
    const server = await serveSsh(() => true);
    const keys = keysOf(server);
    const url = `${server.url}/fleet.git`;
    const silent = await failureOf(() => open(url, { ...keys, limits: { timeoutMs: 400 } }).fetch());
    expect([silent.code, silent.message]).toEqual([
      'git-unreachable',
      expect.stringContaining('no answer within 400 ms'),
    ]);
    const guarded = createOutbound({ allowPrivate: [], version: '0' });
    const refused = await failureOf(() => open(url, { ...keys, outbound: guarded }).fetch());
    expect([refused.code, refused.data.outbound]).toEqual(['git-unreachable', 'outbound-refused-address']);
    await server.close();
    const { folder } = await serveSsh();
    const other = await serveSsh();
    writeFileSync(join(folder, 'known'), '');
    const closed = await failureOf(() =>
      open(url, { ssh: { keyFile: other.keyFile, knownHostsFile: join(folder, 'known') } }).fetch(),
    );
    expect([closed.code, closed.retryable, closed.message]).toEqual([
      'git-unreachable',
      true,
      expect.stringContaining('Connection refused'),
    ]);
  });

  test('if nothing listens at one address of a host, the next address is used', async () => {
    const server = await serveSsh();
    server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
    const knownHostsFile = join(server.folder, 'by-name');
    writeFileSync(knownHostsFile, `[git.example.com]:${server.port} ${server.hostKey}\n`);
    const resolve = async () => ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }));
    const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: '0', resolve });
    const url = `${server.url}/fleet.git`.replace('127.0.0.1', 'git.example.com');
    const ssh = { keyFile: server.keyFile, knownHostsFile };
    const checkout = await open(url, { ssh, outbound, dir: stateDir() }).fetch();
    expect(await textOf(checkout)).toEqual({ 'a.yaml': 'a' });
  });

  test('without a key, no connection is opened', () => {
    expect(() => open('git@example.com:team/x.git')).toThrow('example.com:team/x.git: ssh needs a key file');
  });
});
