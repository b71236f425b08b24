// Opens a Git repository for reading: lists a commit's files, and reads contents by object id. Implements `Repository`
// of reconciler/run/ports.ts.

import type { Checkout, Clock, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Outbound } from '../http/outbound.ts';
import { openLocal } from './local.ts';
import { type Location, readLocation } from './location.ts';
import { openMirror } from './mirror.ts';
import { type GitRef, readReference } from './reference.ts';
import { trustOf, type VerifySettings } from './signatures/verify.ts';
import { openDaemon } from './transport/daemon.ts';
import { pipeEndpoint } from './transport/pipe.ts';
import { openSsh, type SshKeys } from './transport/ssh.ts';
import { type Endpoint, httpEndpoint } from './transport/transport.ts';

interface GitLimits {
  /** Maximum bytes of one transfer. Default: 256 MiB. */
  readonly maxPackBytes: number;
  /** Maximum bytes of one file or tree. Default: 32 MiB. */
  readonly maxObjectBytes: number;
  /** Number of packs at which the local copy is created again. Default: 20. */
  readonly maxPacks: number;
  /** Timeout in milliseconds of one exchange with the server. Default: 2 minutes. */
  readonly timeoutMs: number;
  /** Milliseconds to wait for another process that uses the local copy. Default: 1 minute. */
  readonly lockWaitMs: number;
}

export interface GitOptions {
  /** An http(s), ssh, git or file URL, or `user@host:path`. Credentials in the URL are used but never shown. */
  readonly repository: string;
  readonly ref: GitRef;
  /**
   * File or folder in the repository. The checkout contains only files at or below this path. Default: the whole
   * repository.
   */
  readonly path?: string;
  /** HTTP Basic credentials. The password is read again for each conversation. */
  readonly auth?: { readonly username: string; readonly password: () => Promise<string> };
  /** Settings of ssh. If absent, ssh URLs are refused. */
  readonly ssh?: SshKeys;
  /** If absent, no signature is required. */
  readonly verify?: VerifySettings;
  /**
   * Folder for the local copy, created if missing. Each repository and reference needs its own folder. Not used for
   * file URLs.
   */
  readonly dir: string;
  readonly outbound: Outbound;
  /** The setting `outbound.allowFiles`. */
  readonly allowFiles: boolean;
  readonly limits?: Partial<GitLimits>;
  readonly clock: Clock;
}

const LIMITS: GitLimits = {
  maxPackBytes: 256 * 1024 * 1024,
  maxObjectBytes: 32 * 1024 * 1024,
  maxPacks: 20,
  timeoutMs: 120_000,
  lockWaitMs: 60_000,
};

/**
 * Sends no request. Throws Failure `git-invalid-url`, `git-invalid-ref`, `git-transport-unsupported`,
 * `git-files-not-allowed` or `git-ssh-key-missing`. Failures of `fetch` and `read` have a code of GIT_CODES, `data.url`
 * and `data.ref`.
 */
export function openRepository(options: GitOptions): Repository {
  const location = readLocation(options.repository, options.allowFiles);
  const reference = readReference(options.ref);
  const path = readPath(options.path ?? '');
  const limits = { ...LIMITS, ...options.limits };
  const { url } = location;
  const trust = trustOf(options.verify);
  const repository =
    location.type === 'file'
      ? openLocal({ folder: location.path, reference, path, limits, trust })
      : openMirror({ ...options, endpoint: endpointOf(location, options, limits), reference, path, limits, trust });
  const named = <T>(run: () => Promise<T>) =>
    run().catch((error: unknown) => Promise.reject(withNames(url, reference.says, error)));
  const withNamedReads = (checkout: Checkout): Checkout => ({
    ...checkout,
    read: (oids) => named(() => readNamed(checkout, oids)),
  });
  return {
    fetch: () => named(async () => withNamedReads(await repository.fetch())),
    at: (commit) => named(async () => withNamedReads(await repository.at(commit))),
    ancestors: (commit, count) => named(() => repository.ancestors(commit, count)),
  };
}

function endpointOf(location: Exclude<Location, { type: 'file' }>, options: GitOptions, limits: GitLimits): Endpoint {
  const { outbound, auth, ssh, dir, clock } = options;
  switch (location.type) {
    case 'http': {
      const { url, credentials } = location;
      const given = auth ?? (credentials && { ...credentials, password: async () => credentials.password });
      return httpEndpoint({ url, outbound, ...limits, auth: given });
    }
    case 'ssh': {
      if (ssh === undefined) throw keyMissing(location.url);
      return pipeEndpoint({ open: (signal) => openSsh({ location, outbound, dir, clock, ...ssh }, signal), ...limits });
    }
    case 'daemon':
      return pipeEndpoint({ open: (signal) => openDaemon({ location, outbound }, signal), ...limits });
  }
}

const SET_KEY = 'Set auth: {sshKeyFile, knownHostsFile} of the source, or git.credentials for its host, in skep.yaml';

function keyMissing(url: string): Failure {
  return new Failure('git-ssh-key-missing', `${url}: ssh needs a key file and a known_hosts file. ${SET_KEY}`, {
    data: { url },
  });
}

/** Returns a path relative to the root, without `.` and empty segments. */
function readPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) {
    throw new Failure('git-path-not-found', `path "${path}" leads out of the repository`, { data: { path } });
  }
  return parts.join('/');
}

/** Adds the path of a file that is too large to the failure, because the object store knows only its id. */
async function readNamed(checkout: Checkout, oids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    return await checkout.read(oids);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'git-too-large') throw error;
    const file = checkout.files.find(({ oid }) => oid === error.data.oid);
    if (file === undefined) throw error;
    const message = `${file.path} is larger than ${error.data.maxBytes} bytes`;
    throw new Failure(error.code, message, { data: { ...error.data, path: file.path }, cause: error });
  }
}

function withNames(url: string, ref: string, error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const { code, data, cause, retryable } = error;
  return new Failure(code, `${url}, ${ref}: ${error.message}`, { data: { ...data, url, ref }, cause, retryable });
}
