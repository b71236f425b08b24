// Creates failures about invalid repository URLs, without parts that may be a password.

import { Failure } from '#std/failure.ts';
import type { GitCode } from './codes.ts';

export function withTail(shown: string): Failure {
  return urlFailure(
    'git-invalid-url',
    `${shown}: remove the query or fragment from the URL (a branch goes to "branch")`,
    shown,
  );
}

/** Removes the part before an `@`, which may contain a password. */
export function displayable(repository: string): string {
  const schemeEnd = repository.indexOf('://');
  const hostStart = repository.lastIndexOf('@') + 1;
  return hostStart === 0
    ? repository
    : repository.slice(0, schemeEnd < 0 ? 0 : schemeEnd + 3) + repository.slice(hostStart);
}

export function noUrl(repository: string): Failure {
  const shown = displayable(repository);
  const hint = shown.startsWith('/')
    ? `: write file://${shown}`
    : ': write https://host/path, ssh://user@host/path or user@host:path';
  return urlFailure('git-invalid-url', `"${shown}" is no URL${hint}`, shown);
}

export function unsupportedScheme(scheme: string, repository: string): Failure {
  return urlFailure(
    'git-transport-unsupported',
    `${repository}: ${scheme} is not supported, use an https, http, ssh, git or file URL`,
    repository,
  );
}

export function urlFailure(code: GitCode, message: string, url: string, cause?: unknown): Failure {
  return new Failure(code, message, { data: { url }, cause });
}
