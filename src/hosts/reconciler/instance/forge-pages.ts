// Builds the URLs of pages of a commit and of a file at its Git host.

import type { forgeOf } from './forge.ts';

type Forge = NonNullable<ReturnType<typeof forgeOf>>;

export function commitPage({ origin, path }: Forge, commit: string): string {
  return `${origin}/${path}/${isBitbucket(origin) ? 'commits' : 'commit'}/${commit}`;
}

/** Hosts of GitHub and GitLab understand the same path. */
export function filePage({ origin, path }: Forge, commit: string, file: string, line: number): string {
  const encoded = file.split('/').map(encodeURIComponent).join('/');
  if (isBitbucket(origin)) return `${origin}/${path}/src/${commit}/${encoded}#lines-${line}`;
  const below = isGitea(origin) ? 'src/commit' : 'blob';
  return `${origin}/${path}/${below}/${commit}/${encoded}#L${line}`;
}

function isBitbucket(origin: string): boolean {
  return new URL(origin).hostname === 'bitbucket.org';
}

function isGitea(origin: string): boolean {
  const { hostname } = new URL(origin);
  return hostname === 'codeberg.org' || /(?:^|\.)(?:gitea|forgejo)\./.test(hostname);
}
