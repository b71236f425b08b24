// Parses the URL of a repository.

import { fileURLToPath } from 'node:url';
import { displayUrl } from '../http/failures.ts';
import { displayable, noUrl, unsupportedScheme, urlFailure, withTail } from './url-failures.ts';

interface LocationText {
  /** URL without credentials, for messages. */
  readonly url: string;
}

interface HttpLocation extends LocationText {
  readonly type: 'http';
  /** Credentials from the URL (`user:password@`). */
  readonly credentials?: { readonly username: string; readonly password: string };
}

interface FileLocation extends LocationText {
  readonly type: 'file';
  readonly path: string;
}

export interface SshLocation extends LocationText {
  readonly type: 'ssh';
  readonly user: string;
  readonly host: string;
  readonly port: number;
  /** Path for the server's shell. Absolute, or relative to the user's home. */
  readonly path: string;
}

/** A URL for git-daemon(1). */
export interface DaemonLocation extends LocationText {
  readonly type: 'daemon';
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

export type Location = HttpLocation | FileLocation | SshLocation | DaemonLocation;

/** The user name that Git hosts expect. A URL may contain another user name. */
const SSH_USER = 'git';
const SSH_PORT = 22;
const DAEMON_PORT = 9418;

/** Throws Failure `git-invalid-url`, `git-transport-unsupported` or `git-files-not-allowed`. */
export function readLocation(repository: string, allowFiles: boolean): Location {
  const url = URL.parse(repository);
  // `host:path` also parses as a URL whose scheme is the host.
  if (url === null || !repository.includes('://')) {
    const scpLike = readScpLike(repository);
    if (scpLike === undefined) throw noUrl(repository);
    return scpLike;
  }
  switch (url.protocol) {
    case 'http:':
    case 'https:':
      return httpLocation(url);
    case 'ssh:':
      return sshLocation(url, `ssh://${url.host}${url.pathname}`);
    case 'git:':
      return daemonLocation(url, `git://${url.host}${url.pathname}`);
    case 'file:':
      if (!allowFiles) {
        const message = `${repository} is a file URL: set outbound.allowFiles to true to allow it, or name a remote repository`;
        throw urlFailure('git-files-not-allowed', message, repository);
      }
      return fileLocation(url);
    default:
      throw unsupportedScheme(url.protocol.slice(0, -1), displayable(repository));
  }
}

/**
 * Returns the server that receives the credentials for the repository. undefined if the URL is invalid or its scheme
 * has no credentials.
 */
export function repositoryOrigin(repository: string): RepositoryOrigin | undefined {
  const url = URL.parse(repository);
  if (url !== null && repository.includes('://')) {
    const host = url.hostname.toLowerCase();
    if (url.protocol === 'https:') return { scheme: 'https', host, port: Number(url.port || 443) };
    if (url.protocol === 'http:') return { scheme: 'http', host, port: Number(url.port || 80) };
    return url.protocol === 'ssh:' ? { scheme: 'ssh', host, port: Number(url.port || SSH_PORT) } : undefined;
  }
  const scpLike = readScpLike(repository);
  return scpLike === undefined ? undefined : { scheme: 'ssh', host: scpLike.host.toLowerCase(), port: scpLike.port };
}

export interface RepositoryOrigin {
  readonly scheme: 'https' | 'http' | 'ssh';
  /** In lower case. IPv6 addresses are in brackets. */
  readonly host: string;
  readonly port: number;
}

function httpLocation(url: URL): Location {
  const shown = displayUrl(url);
  if (hasTail(url)) throw withTail(shown);
  const path = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  const location = { type: 'http', url: url.origin + path } as const;
  if (url.username === '' && url.password === '') return location;
  const credentials = { username: decodePath(url.username, shown), password: decodePath(url.password, shown) };
  return { ...location, credentials };
}

function fileLocation(url: URL): Location {
  try {
    return { type: 'file', url: url.href, path: fileURLToPath(url) };
  } catch (cause) {
    throw urlFailure(
      'git-invalid-url',
      `${url.href} names no path on this machine: write file:///path/of/repository.git`,
      url.href,
      cause,
    );
  }
}

/** Parses `ssh://[user@]host[:port]/path` (git-clone(1), GIT URLS). `/~user/path` is relative to the home of `user`. */
function sshLocation(url: URL, shown: string): Location {
  if (hasTail(url)) throw withTail(shown);
  if (url.password !== '') {
    throw urlFailure(
      'git-invalid-url',
      `${shown}: ssh takes no password in the URL: remove it, and set auth.sshKeyFile`,
      shown,
    );
  }
  const path = decodePath(url.pathname, shown);
  return checkedSsh({
    type: 'ssh',
    url: shown,
    user: url.username === '' ? SSH_USER : decodePath(url.username, shown),
    host: url.hostname,
    port: url.port === '' ? SSH_PORT : Number(url.port),
    path: path.startsWith('/~') ? path.slice(1) : path,
  });
}

/** Parses `[user@]host:path` (git-clone(1)), in which no slash precedes the colon. IPv6 addresses are in brackets. */
function readScpLike(text: string): SshLocation | undefined {
  const at = text.indexOf('@') + 1;
  const bracket = text[at] === '[' ? text.indexOf(']', at) : at;
  const colon = text.indexOf(':', bracket);
  if (bracket < 0 || colon <= at || text.slice(0, colon).includes('/') || text.startsWith('://', colon))
    return undefined;
  return checkedSsh({
    type: 'ssh',
    url: text.slice(at),
    user: at === 0 ? SSH_USER : text.slice(0, at - 1),
    host: text.slice(at, colon),
    port: SSH_PORT,
    path: text.slice(colon + 1),
  });
}

/**
 * Refuses an empty host, user or path, and control characters. Also refuses a leading dash, because ssh or the server's
 * shell could parse the part as an option.
 */
function checkedSsh(location: SshLocation): SshLocation {
  const { url, user, host, path } = location;
  if ([user, host, path].some((part) => part === '' || part.startsWith('-') || hasControls(part))) {
    throw urlFailure(
      'git-invalid-url',
      `"${url}": user, host or path is empty or begins with a dash: write user@host:path or ssh://user@host/path`,
      url,
    );
  }
  if (URL.parse(`ssh://${host}`)?.hostname !== host) {
    throw urlFailure(
      'git-invalid-url',
      `"${url}": "${host}" is not a host name: write user@host:path or ssh://user@host/path`,
      url,
    );
  }
  if (user.includes(':'))
    throw urlFailure(
      'git-invalid-url',
      `"${url}": ssh takes no password in the URL: remove it, and set auth.sshKeyFile`,
      url,
    );
  return location;
}

function daemonLocation(url: URL, shown: string): Location {
  const path = decodePath(url.pathname, shown);
  if (hasTail(url)) throw withTail(shown);
  if (url.username !== '' || url.hostname === '' || hasControls(path)) {
    throw urlFailure(
      'git-invalid-url',
      `${shown}: git:// takes a host and a path and no user: write git://host/path`,
      shown,
    );
  }
  return {
    type: 'daemon',
    url: shown,
    host: url.hostname,
    port: url.port === '' ? DAEMON_PORT : Number(url.port),
    path,
  };
}

function hasTail({ search, hash }: URL): boolean {
  return search !== '' || hash !== '';
}

function hasControls(text: string): boolean {
  return [...text].some((char) => char < ' ' || char === '\u007f');
}

function decodePath(text: string, shown: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw urlFailure('git-invalid-url', `${shown}: a % in the URL begins no valid escape: write it as %25`, shown);
  }
}
