// Finds the web address of a repository's Git host, and the path of the repository on that host.

import { readLocation } from '#adapters/git/location.ts';
import { webHost } from '#std/address/git-hosts.ts';

/** Returns undefined for folders and git daemons, which have no commit statuses. */
export function forgeOf(
  repository: string,
  allowFiles: boolean,
): { readonly origin: string; readonly path: string } | undefined {
  const location = readLocation(repository, allowFiles);
  switch (location.type) {
    case 'http': {
      const { origin, pathname } = new URL(location.url);
      return { origin, path: barePath(decodeURIComponent(pathname)) };
    }
    case 'ssh':
      return { origin: `https://${webHost(location.host)}`, path: barePath(location.path) };
    case 'daemon':
    case 'file':
      return undefined;
  }
}

function barePath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  const joined = parts.join('/');
  return joined.endsWith('.git') ? joined.slice(0, -'.git'.length) : joined;
}
