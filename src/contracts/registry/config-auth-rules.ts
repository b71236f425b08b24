// Checks rules of `auth` that its schema cannot express: fields that a mode requires, and public paths that cover more
// than their author may expect.

import type { RegistryConfigFile } from './config.ts';
import { type ConfigFinding, error, urlFindings, warning } from './config-finding.ts';

type Auth = NonNullable<RegistryConfigFile['auth']>;
type OAuth = NonNullable<Auth['oauth']>;
type OAuthProvider = NonNullable<OAuth['providers']>[number];

/** `auth` without the parts that do not fit the schema. */
export type SoundAuth = Omit<Auth, 'oauth'> & { readonly oauth?: SoundOAuth | undefined };

type SoundOAuth = Omit<OAuth, 'providers' | 'resourceUrl'> & {
  readonly resourceUrl?: string;
  readonly providers?: readonly (OAuthProvider | undefined)[];
};

export function authFindings(auth: SoundAuth | undefined): readonly ConfigFinding[] {
  if (auth?.mode === 'anonymous') return publicPathFindings(auth.publicPaths, '/auth/publicPaths');
  const { oauth } = auth ?? {};
  if (oauth?.providers === undefined || oauth.providers.length === 0) {
    const why = auth?.mode === undefined ? 'no auth.mode is given, so the mode is oauth, which' : 'mode oauth';
    const what = `${why} needs auth.oauth with a resourceUrl and at least one provider; for a service without access control write auth: {mode: anonymous}`;
    return [error('registry-config-providers-missing', auth === undefined ? '' : '/auth', what)];
  }
  return [
    ...(auth?.syncTokenFile === undefined
      ? []
      : [warning('registry-config-no-effect', '/auth/syncTokenFile', 'has no effect if tokens are required')]),
    ...publicPathFindings(auth?.publicPaths, '/auth/publicPaths'),
    ...publicPathFindings(oauth.publicPaths, '/auth/oauth/publicPaths'),
    ...urlFindings(oauth.resourceUrl, '/auth/oauth/resourceUrl'),
    ...urlFindings(oauth.resourceDocumentation, '/auth/oauth/resourceDocumentation'),
    ...scopeFindings(oauth),
    ...oauth.providers.flatMap((provider, index) =>
      provider === undefined ? [] : providerFindings(provider, `/auth/oauth/providers/${index}`),
    ),
  ];
}

/** Warns if scopesSupported lacks scopes that enforceScopes requires: clients request only the listed scopes. */
function scopeFindings({ enforceScopes, scopesSupported }: SoundOAuth): readonly ConfigFinding[] {
  if (enforceScopes !== true || scopesSupported === undefined) return [];
  const missing = ['mcp-registry:read', 'mcp-registry:write'].filter((scope) => !scopesSupported.includes(scope));
  if (missing.length === 0) return [];
  const what = `clients are not given ${missing.join(' and ')}, which enforceScopes asks them for`;
  return [warning('registry-config-scopes', '/auth/oauth/scopesSupported', what)];
}

function providerFindings(provider: OAuthProvider, pointer: string): readonly ConfigFinding[] {
  const secretAlone = provider.clientSecretFile !== undefined && provider.clientId === undefined;
  return [
    ...urlFindings(provider.issuerUrl, `${pointer}/issuerUrl`),
    ...urlFindings(provider.jwksUrl, `${pointer}/jwksUrl`),
    ...urlFindings(provider.introspectionUrl, `${pointer}/introspectionUrl`),
    ...(secretAlone
      ? [warning('registry-config-no-effect', `${pointer}/clientSecretFile`, 'has no effect without clientId')]
      : []),
  ];
}

function publicPathFindings(paths: readonly string[] | undefined, pointer: string): readonly ConfigFinding[] {
  return (paths ?? []).flatMap((path, index) => {
    const at = `${pointer}/${index}`;
    if (!path.startsWith('/')) return [error('registry-config-public-path', at, `"${path}" must start with /`)];
    if (/^\/+$/.test(path)) return [warning('registry-config-public-path', at, '"/" makes every path public')];
    return [];
  });
}
