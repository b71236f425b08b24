// Opens Git repositories of skep.yaml and of MCPRegistries, with their own credentials or with credentials for their
// host.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryOrigin } from '#adapters/git/location.ts';
import { type GitOptions, openRepository } from '#adapters/git/repository.ts';
import type { Outbound } from '#adapters/http/outbound.ts';
import type { Clock, Repository } from '#reconciler/run/ports.ts';
import { readPattern } from '#reconciler/run/read/patterns.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { globMatches } from '#std/patterns/glob.ts';
import { textOfFile } from '#std/utf8.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { HostCredentials } from '../../config/sources.ts';

type Credentials = Omit<HostCredentials, 'namespaces'>;

export interface GitDeps {
  readonly outbound: Outbound;
  /** Setting `outbound.allowFiles`. */
  readonly allowFiles: boolean;
  /** Folder for local copies. Namespaces have separate folders, so that they do not see each other's repositories. */
  readonly dir: string;
  readonly clock: Clock;
  /** Setting `git.credentials`. */
  readonly credentials: readonly Credentials[];
}

export interface GitRequest {
  readonly repository: string;
  /** At most one of branch, tag, semver and commit is set. If none is set, the default branch is read. */
  readonly branch?: string | undefined;
  readonly tag?: string | undefined;
  readonly semver?: string | undefined;
  readonly commit?: string | undefined;
  /** File or folder in the repository. The empty string means the whole repository. */
  readonly path: string;
  /** If not set, the credentials for the repository's host are used. */
  readonly auth?: Pick<GitOptions, 'auth' | 'ssh'>;
  readonly verify?: GitOptions['verify'];
}

/** Contacts no server. Throws a Failure if the request can never succeed. */
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

/** Opens a source of skep.yaml. Failures contain the name of the source. */
export function openGitOfSource(source: string, deps: GitDeps, request: GitRequest): Repository {
  try {
    return openGit(deps, request);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.code, `source ${source}: ${error.message}`, { data: error.data, cause: error });
  }
}

function refOf({ branch, tag, semver, commit }: GitRequest): GitOptions['ref'] {
  return {
    branch,
    tag,
    semver,
    commit,
  };
}

/** Compares scheme, host and port, so that a password is not sent over http or to another service of the host. */
function credentialsFor(all: readonly Credentials[], repository: string): Credentials | undefined {
  const origin = repositoryOrigin(repository);
  if (origin === undefined) return undefined;
  return all.find((each) => {
    const {
      host,
      sshKeyFile,
      scheme = sshKeyFile === undefined ? 'https' : 'ssh',
      port = DEFAULT_PORTS[scheme],
    } = each;
    return host.toLowerCase() === origin.host && scheme === origin.scheme && port === origin.port;
  });
}

/** Returns the entries of `git.credentials` that MCPRegistries in a namespace may use. */
export function lentTo(all: readonly HostCredentials[], namespace: string): readonly HostCredentials[] {
  return all.filter(({ namespaces }) =>
    namespaces.some((pattern) => globMatches(readPattern('git.credentials.namespaces', pattern), namespace)),
  );
}

const DEFAULT_PORTS = { https: 443, http: 80, ssh: 22 } as const;

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

/** Reads the file at each use, because mounted Secrets change. */
async function passwordFrom(path: string): Promise<string> {
  try {
    return textOfFile(await readFile(path), `password file ${path}`, 'secret-file-unreadable').trim();
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('secret-file-unreadable', `password file ${path} cannot be read`, { cause });
  }
}

/** Returns the dependencies for sources of skep.yaml. */
export function gitDeps({ stateDir, git, outbound: { allowFiles } }: Config, outbound: Outbound): GitDeps {
  return { outbound, allowFiles, dir: join(stateDir, 'git'), clock: systemClock, credentials: git.credentials };
}
