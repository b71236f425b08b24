// Opens the Git repositories that skep.yaml or an MCPRegistry names, by the credentials of each or of its host. Knows
// nothing about what is read from them.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryHost } from '../../adapters/git/location.ts';
import { type GitOptions, openRepository } from '../../adapters/git/repository.ts';
import type { Outbound } from '../../adapters/http/outbound.ts';
import type { Clock, Repository } from '../../reconcile/ports.ts';
import { Failure } from '../../std/failure.ts';
import { sha256 } from '../../std/hash.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { HostCredentials } from '../config/sources.ts';

type Credentials = Omit<HostCredentials, 'registries'>;

export interface GitDeps {
  readonly outbound: Outbound;
  /** `outbound.allowFiles`. */
  readonly allowFiles: boolean;
  /** Where local copies are kept: whoever must not see what another has fetched has another folder. */
  readonly dir: string;
  readonly clock: Clock;
  /** `git.credentials`. */
  readonly credentials: readonly Credentials[];
}

export interface GitRequest {
  readonly repository: string;
  /** At most one of the four; none means the default branch. */
  readonly branch?: string | undefined;
  readonly tag?: string | undefined;
  readonly semver?: string | undefined;
  readonly commit?: string | undefined;
  /** File or folder; the empty string means everything. */
  readonly path: string;
  /** Absent: those of the repository's host. */
  readonly auth?: Pick<GitOptions, 'auth' | 'ssh'>;
  readonly verify?: GitOptions['verify'];
}

/** Contacts nobody yet. Throws Failure of the Git adapter for what can never be fetched. */
export function openGit(deps: GitDeps, request: GitRequest): Repository {
  const { outbound, allowFiles, clock, dir, credentials } = deps;
  const ref = refOf(request);
  const { repository, path, verify, auth = authOf(credentialsFor(credentials, repository)) } = request;
  return openRepository({
    repository,
    ref,
    dir: join(dir, sha256(JSON.stringify([repository, ref, path])).slice(0, 16)),
    ...auth,
    verify,
    path,
    outbound,
    allowFiles,
    clock,
  });
}

function refOf({ branch, tag, semver, commit }: GitRequest): GitOptions['ref'] {
  return {
    branch,
    tag,
    semver,
    commit,
  };
}

/** A host with its port is meant before the host alone. */
function credentialsFor(all: readonly Credentials[], repository: string): Credentials | undefined {
  const names = repositoryHost(repository);
  return names.map((name) => all.find(({ host }) => host === name)).find((found) => found !== undefined);
}

export function authOf(credentials: Partial<Credentials> | undefined): Pick<GitOptions, 'auth' | 'ssh'> {
  const { username, passwordFile, sshKeyFile, knownHostsFile } = credentials ?? {};
  return {
    auth:
      username === undefined || passwordFile === undefined
        ? undefined
        : { username, password: () => passwordFrom(passwordFile) },
    ssh: sshKeyFile === undefined || knownHostsFile === undefined ? undefined : { keyFile: sshKeyFile, knownHostsFile },
  };
}

/** Read at each use: mounted secrets rotate. */
async function passwordFrom(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new Failure('secret-file-unreadable', `password file ${path} cannot be read`, { cause });
  }
}

/** For the instance's own sources. */
export function gitDeps({ stateDir, git, outbound: { allowFiles } }: Config, outbound: Outbound): GitDeps {
  return { outbound, allowFiles, dir: join(stateDir, 'git'), clock: systemClock, credentials: git.credentials };
}
