// Parses a registry's `www-authenticate` header (RFC 9110 section 11.6.1), and decides whether its token service is
// trusted.

import { Failure } from '#std/failure.ts';

export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const CHALLENGE = /^\s*([a-z0-9-]+)(?:\s+(.*))?$/is;
const PARAMETER = /([a-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi;

export function parseChallenge(header: string): Challenge | undefined {
  const [, scheme, rest = ''] = CHALLENGE.exec(header.slice(0, 4096)) ?? [];
  if (scheme === undefined) return undefined;
  const parameters = [...rest.matchAll(PARAMETER)].map(([, name = '', quoted, plain]) => [
    name.toLowerCase(),
    quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '',
  ]);
  return { scheme: scheme.toLowerCase(), parameters: Object.fromEntries(parameters) };
}

/** Token services of public registries that have another host than the registry. */
const KNOWN_REALMS: Readonly<Record<string, string>> = {
  'docker.io': 'auth.docker.io',
  'registry.gitlab.com': 'gitlab.com',
};

/**
 * Returns the URL of the token service. A registry may send any URL. Only the registry's own host and its known or
 * configured hosts are accepted, because the token service receives credentials. Throws Failure `image-realm`.
 */
export function realmUrl(
  registry: string,
  base: URL,
  realm: string | undefined,
  configured: Readonly<Record<string, string>>,
): URL {
  const url = URL.parse(realm ?? '');
  const refuse = (why: string): never => {
    throw new Failure('image-realm', `the registry ${registry} sends its clients for tokens to ${why}`);
  };
  if (url === null || url.username !== '' || url.password !== '')
    return refuse('something that is not a URL without a user');
  if (url.protocol !== 'https:' && url.origin !== base.origin) return refuse(`${url.origin}, which is not https`);
  const allowed = [base.host, registry, configured[registry] ?? KNOWN_REALMS[registry]];
  if (!allowed.includes(url.host)) return refuse(`another host, ${url.host}, which images.verify.realms does not name`);
  return url;
}
