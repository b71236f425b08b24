// Explains why ssh ended, from its exit code and its messages, because ssh reports nothing else.

import { Failure } from '#std/failure.ts';
import type { GitCode } from '../codes.ts';

export interface SshEnd {
  /** null if a signal ended ssh. */
  readonly code: number | null;
  /** stderr of ssh, which includes the stderr of git on the server. */
  readonly says: string;
  /** The error if ssh could not be started. */
  readonly cause: unknown;
}

/** Messages of OpenSSH, git and Git hosts. The first match decides. */
const WORDINGS: readonly (readonly [wording: RegExp, code: GitCode, retryable: boolean])[] = [
  [/Host key verification failed|host key is known for|IDENTIFICATION HAS CHANGED/i, 'git-ssh-host-unknown', false],
  [/Load key|UNPROTECTED PRIVATE KEY|no such identity/i, 'git-ssh-key-unusable', false],
  [/Permission denied|Too many authentication failures/, 'git-auth-required', false],
  [/not appear to be a git repository|repository not found|no such project/i, 'git-not-a-repository', false],
  [/connect to (host|address)|Connection (refused|reset|closed|timed out)|kex_exchange/i, 'git-unreachable', true],
];

/** Returns undefined if ssh ended without an error. */
export function sshComplaint({ code, says, cause }: SshEnd): Failure | undefined {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
    return new Failure(
      'git-ssh-missing',
      'there is no program "ssh" on the PATH: install an OpenSSH client, or use an https URL',
      { cause },
    );
  }
  if (code === 0) return undefined;
  const [, meaning = 'git-protocol-error', retryable = true] = WORDINGS.find(([wording]) => wording.test(says)) ?? [];
  const words = lastWords(says);
  return new Failure(
    meaning,
    `${words === '' ? `ssh ended with ${code ?? 'a signal'}` : `ssh says: ${words}`}${adviceOn(meaning)}`,
    {
      data: { exitCode: code },
      cause,
      retryable,
    },
  );
}

function adviceOn(code: GitCode): string {
  const advice = ADVICE[code];
  return advice === undefined ? '' : `. ${advice}`;
}

const ADVICE: Partial<Readonly<Record<GitCode, string>>> = {
  'git-ssh-host-unknown':
    'Put the key of the server into the known_hosts file (ssh-keyscan prints it; compare it with the key that the host publishes)',
  'git-ssh-key-unusable':
    'Write the private key into the file again as ssh-keygen wrote it; only the user who runs skep may read the file',
  'git-auth-required': 'Give the key of the source access to the repository',
  'git-not-a-repository': 'Correct the path in the URL, or give the key access',
};

/** Removes frames of `@` around warnings, and control characters that could affect a terminal. */
function lastWords(says: string): string {
  const lines = says
    .split('\n')
    .map((line) => line.replaceAll(/\p{Cc}/gu, '').trim())
    .filter((line) => line !== '' && !/^@.*@?$/.test(line));
  return lines.slice(-4).join('; ').slice(0, 500);
}
