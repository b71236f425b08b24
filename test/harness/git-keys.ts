// Creates keys for signed commits and tags with ssh-keygen and gpg, and the arguments with which git signs.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SigningKey {
  /** Arguments before the git command: `git ...arguments commit -S`. */
  readonly arguments: readonly string[];
  /** Path of the public key. */
  readonly publicFile: string;
}

/** Returns the reason why tests of signatures are skipped. undefined if all programs are installed. */
export function withoutSigners(): string | undefined {
  const missing = ['gpg', 'gpgconf', 'ssh-keygen'].filter((name) => spawnSync(name, ['-?']).error !== undefined);
  if (missing.length === 0) return undefined;
  return `skipped: signatures of commits, as there is no ${missing.join(', ')} here (apt-get install gnupg openssh-client)`;
}

export function sshSigningKey(folder: string, name: string, ...type: readonly string[]): SigningKey {
  const file = join(folder, name);
  execFileSync('ssh-keygen', [
    '-q',
    '-N',
    '',
    '-C',
    `${name}@example.com`,
    '-f',
    file,
    ...(type.length > 0 ? type : ['-t', 'ed25519']),
  ]);
  return { arguments: ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${file}`], publicFile: `${file}.pub` };
}

export interface Gpg {
  /** `time` is the creation time in gpg's format. `expires` is a duration such as `1d`, or `never`. */
  signingKey(name: string, settings?: { algorithm?: string; expires?: string; time?: string }): SigningKey;
  /** Revokes the key and writes the revoked public key to its file. */
  revoke(key: SigningKey): void;
  /** Ends the gpg-agent process that gpg has started. */
  close(): void;
}

/** Creates a home directory of gpg. The folder's path must be short, because gpg creates sockets in it. */
export function gpgHome(folder: string): Gpg {
  const home = join(folder, 'gpg');
  mkdirSync(home, { mode: 0o700 });
  const ids = new Map<string, string>();
  const gpg = (...args: readonly string[]) =>
    execFileSync(
      'gpg',
      ['--homedir', home, '--batch', '--quiet', '--passphrase', '', '--pinentry-mode', 'loopback', ...args],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
  const exportTo = (id: string, file: string) => writeFileSync(file, gpg('--armor', '--export', id));
  return {
    signingKey(name, { algorithm = 'ed25519', expires = 'never', time } = {}) {
      const at = time === undefined ? [] : ['--faked-system-time', `${time}!`];
      const id = `${name}@example.com`;
      gpg(...at, '--quick-generate-key', `${name} <${id}>`, algorithm, 'sign', expires);
      const program = join(folder, `${name}-gpg`);
      writeFileSync(program, `#!/bin/sh\nexec gpg --homedir '${home}' ${at.join(' ')} "$@"\n`);
      chmodSync(program, 0o755);
      const publicFile = join(folder, `${name}.asc`);
      exportTo(id, publicFile);
      ids.set(publicFile, id);
      return { arguments: ['-c', `gpg.program=${program}`, '-c', `user.signingkey=${id}`], publicFile };
    },
    revoke({ publicFile }) {
      const id = ids.get(publicFile) ?? '';
      const fingerprint =
        gpg('--with-colons', '--list-keys', id)
          .toString()
          .match(/^fpr:+([0-9A-F]+):/m)?.[1] ?? '';
      const folderOfRevocations = join(home, 'openpgp-revocs.d');
      const file = readdirSync(folderOfRevocations).find((each) => each.startsWith(fingerprint)) ?? '';
      const certificate = join(folder, 'revocation.asc');
      // gpg writes a colon before the armor to prevent an accidental import.
      writeFileSync(
        certificate,
        readFileSync(join(folderOfRevocations, file), 'utf8').replace(':-----BEGIN', '-----BEGIN'),
      );
      gpg('--import', certificate);
      exportTo(id, publicFile);
    },
    close: () => {
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'gpg-agent'], { stdio: 'ignore' });
    },
  };
}
