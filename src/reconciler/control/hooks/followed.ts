// Decides which sources of the instance follow a push. If this is uncertain, a source counts as following, because an
// unnecessary run costs little.

import { webHost } from '#std/address/git-hosts.ts';
import { withoutEndSlashes, withoutLeadingSlashes } from '#std/slashes.ts';
import type { Push } from './event.ts';

/** A source as skep.yaml defines it; at most one of the four refs is set. */
export interface FollowedSource {
  readonly name: string;
  readonly repository: string;
  readonly branch?: string | undefined;
  readonly tag?: string | undefined;
  readonly semver?: string | undefined;
  readonly commit?: string | undefined;
}

/** Returns the names of the sources whose refs the push may have moved. */
export function sourcesMovedBy(push: Push, sources: readonly FollowedSource[]): string[] {
  const pushed = new Set(push.urls.map(hostAndPath).filter((place) => place !== undefined));
  return sources
    .filter((source) => {
      const place = hostAndPath(source.repository);
      return place !== undefined && pushed.has(place) && isFollowed(source, push);
    })
    .map(({ name }) => name);
}

function isFollowed({ branch, tag, semver, commit }: FollowedSource, { ref, defaultBranch }: Push): boolean {
  if (commit !== undefined) return false;
  if (semver !== undefined) return ref.startsWith('refs/tags/');
  if (tag !== undefined) return ref === `refs/tags/${tag}`;
  const followedBranch = branch ?? defaultBranch;
  return followedBranch === undefined ? ref.startsWith('refs/heads/') : ref === `refs/heads/${followedBranch}`;
}

/**
 * Returns host and path in lower case. The URLs of one repository differ in scheme, user and port between ssh and
 * https, and servers ignore the case of letters in host and path.
 */
function hostAndPath(repository: string): string | undefined {
  const parsed = repository.includes('://') ? URL.parse(repository) : scpLike(repository);
  if (parsed === null || parsed === undefined) return undefined;
  const path = withoutLeadingSlashes(withoutEndSlashes(parsed.pathname).replace(/\.git$/, ''));
  return `${webHost(parsed.hostname)}/${path.toLowerCase()}`;
}

/** Parses `git@host:path`. */
function scpLike(repository: string): { readonly hostname: string; readonly pathname: string } | undefined {
  const colon = repository.indexOf(':');
  if (colon <= 0) return undefined;
  const hostname = repository.slice(repository.lastIndexOf('@', colon) + 1, colon);
  return { hostname, pathname: repository.slice(colon + 1) };
}
