// Where a repository is, read from its URL. Knows nothing about requests or files.

import { fileURLToPath } from 'node:url';
import { Failure } from '../../std/failure.ts';
import { displayUrl } from '../http/failures.ts';
import type { GitCode } from './codes.ts';

export type Location =
  | {
      readonly type: 'http';
      /** Without credentials and without a slash at the end. */
      readonly url: string;
      /** What stood in the URL as `user:password@`. */
      readonly credentials?: { readonly username: string; readonly password: string };
    }
  | { readonly type: 'file'; readonly url: string; readonly path: string };

/** Throws Failure `git-invalid-url`, `git-transport-unsupported` or `git-files-not-allowed`. */
export function readLocation(repository: string, allowFiles: boolean): Location {
  const url = URL.parse(repository);
  if (url === null) throw isScpLike(repository) ? unsupported('ssh', displayable(repository)) : noUrl(repository);
  switch (url.protocol) {
    case 'http:':
    case 'https:':
      return httpLocation(url);
    case 'file:':
      if (!allowFiles)
        throw failure(
          'git-files-not-allowed',
          `${repository} is a file URL, and outbound.allowFiles is off`,
          repository,
        );
      return fileLocation(url);
    default:
      // `host:path` parses as a URL whose scheme is the host.
      throw unsupported(repository.includes('://') ? url.protocol.slice(0, -1) : 'ssh', displayable(repository));
  }
}

function httpLocation(url: URL): Location {
  const shown = displayUrl(url);
  if (url.search !== '' || url.hash !== '') {
    throw failure('git-invalid-url', `${shown}: the URL of a repository has neither query nor fragment`, shown);
  }
  const path = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  const location = { type: 'http', url: url.origin + path } as const;
  if (url.username === '' && url.password === '') return location;
  const credentials = { username: decoded(url.username, shown), password: decoded(url.password, shown) };
  return { ...location, credentials };
}

function fileLocation(url: URL): Location {
  try {
    return { type: 'file', url: url.href, path: fileURLToPath(url) };
  } catch (cause) {
    throw failure('git-invalid-url', `${url.href} names no path of this machine`, url.href, cause);
  }
}

function decoded(text: string, shown: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw failure('git-invalid-url', `${shown}: the credentials in the URL are not percent-encoded`, shown);
  }
}

/** git-clone(1): `[user@]host:path`, where no slash comes before the colon. */
function isScpLike(text: string): boolean {
  const colon = text.indexOf(':');
  return colon > 0 && !text.slice(0, colon).includes('/') && !text.startsWith('://', colon);
}

/** Without what stands before an `@`, which could hold a password. */
function displayable(repository: string): string {
  const schemeEnd = repository.indexOf('://');
  const hostStart = repository.lastIndexOf('@') + 1;
  return hostStart === 0
    ? repository
    : repository.slice(0, schemeEnd < 0 ? 0 : schemeEnd + 3) + repository.slice(hostStart);
}

function noUrl(repository: string): Failure {
  const shown = displayable(repository);
  const hint = shown.startsWith('/') ? `; write file://${shown}` : '';
  return failure('git-invalid-url', `"${shown}" is no URL${hint}`, shown);
}

function unsupported(scheme: string, repository: string): Failure {
  return failure(
    'git-transport-unsupported',
    `${repository}: ${scheme} is not supported, use an http, https or file URL`,
    repository,
  );
}

function failure(code: GitCode, message: string, url: string, cause?: unknown): Failure {
  return new Failure(code, message, { data: { url }, cause });
}
