// Logs people in at an OpenID Connect provider. Finds the endpoints by discovery, and identifies people by a verified
// id_token.

import { discover } from '#auth/discovery.ts';
import { createProviderKeys, type ProviderKeys } from '#auth/jwks.ts';
import { checkJwt } from '#auth/jwt.ts';
import type { AuthPorts } from '#auth/ports.ts';
import type { ProviderSettings } from '#auth/settings.ts';
import { type JsonObject, textsIn } from '#std/json.ts';
import { isProtected } from '../config-fault.ts';
import type { IssuerPorts } from '../ports.ts';
import { codeFrom, codeGrant, visitUrl } from './oauth2.ts';
import type { UpstreamSettings, UserInfoSettings } from './settings.ts';
import { requestTokens, type TokenEndpoint } from './token-request.ts';
import { asUpstreamFailure, type Upstream, upstreamFailure } from './upstream.ts';
import { askUserInfo, type UserInfo, userInfoOf } from './user-info.ts';

/** Ports of a login. */
export type LoginPorts = Pick<IssuerPorts, 'fetch' | 'files' | 'environment' | 'clock' | 'notify'>;

export type OIDCSettings = Extract<UpstreamSettings, { readonly type: 'oidc' }>;

interface OidcProvider {
  readonly ports: LoginPorts;
  readonly settings: OIDCSettings;
  readonly keys: ProviderKeys;
  document(): Promise<JsonObject>;
}

/** Time for which a discovery document is cached. Endpoints rarely change. */
const DOCUMENT_MS = 10 * 60_000;

/** Creates the provider without sending a request. */
export function createOIDCUpstream(ports: LoginPorts, settings: OIDCSettings): Upstream {
  const { name, issuerUrl, redirectUri } = settings;
  const world = authPorts(ports, settings);
  const known: ProviderSettings = { name, issuerUrl, audience: settings.clientId, allowPrivateIP: true };
  const provider: OidcProvider = {
    ports,
    settings,
    keys: createProviderKeys(world, known),
    document: remembered(ports, () => discover(world, known)),
  };
  return {
    name,
    host: new URL(issuerUrl).host,
    redirectUri,
    async authorizationUrl(visit) {
      const endpoint = await endpointOf(provider, 'authorization_endpoint');
      return visitUrl(endpoint, settings, visit, { nonce: visit.nonce });
    },
    async redeem({ verifier, nonce }, parameters) {
      await checkResponseIssuer(provider, parameters);
      const code = codeFrom(name, parameters);
      const answer = await requestTokens(ports, await tokenEndpoint(provider), codeGrant(code, redirectUri, verifier));
      const { idToken, ...tokens } = answer;
      if (idToken === undefined) throw upstreamFailure(name, 'invalid', 'its token endpoint sent no id_token');
      const person = await personOf(provider, await checkIdToken(provider, idToken, nonce), tokens.accessToken);
      return { ...person, tokens: { ...tokens, idToken, subject: person.subject } };
    },
    async refresh({ refreshToken = '', subject, idToken: former }) {
      const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
      const { idToken, ...tokens } = await requestTokens(ports, await tokenEndpoint(provider), grant);
      if (idToken !== undefined) {
        // OpenID Connect Core 1.0 section 12.2 forbids an id_token of another person.
        const again = await personOf(provider, await checkIdToken(provider, idToken, undefined), tokens.accessToken);
        if (again.subject !== subject)
          throw upstreamFailure(name, 'invalid', 'the refreshed token has another subject');
      }
      return { ...tokens, idToken: idToken ?? former, refreshToken: tokens.refreshToken ?? refreshToken, subject };
    },
  };
}

/**
 * Returns ports whose requests may reach private addresses only on the configured host, and not on other hosts that
 * discovery names.
 */
function authPorts(ports: LoginPorts, { name, issuerUrl }: OIDCSettings): AuthPorts {
  return {
    fetch: (request) => ports.fetch({ ...request, allowPrivate: isSameHost(request.url, issuerUrl) }),
    files: { read: async (path) => ports.files.read(path) },
    clock: ports.clock,
    notify: ({ message, data }) =>
      ports.notify({ code: 'issuer-upstream-unavailable', level: 'warn', message, data: { provider: name, ...data } }),
  };
}

function isSameHost(url: string, issuerUrl: string): boolean {
  return URL.parse(url)?.hostname === new URL(issuerUrl).hostname;
}

/** Returns a function that caches the document. Concurrent calls share one request. Failures are not cached. */
function remembered(ports: LoginPorts, load: () => Promise<JsonObject>): () => Promise<JsonObject> {
  let known: { readonly document: Promise<JsonObject>; readonly until: number } | undefined;
  return function document() {
    if (known !== undefined && ports.clock.monotonic() < known.until) return known.document;
    const current = load();
    known = { document: current, until: ports.clock.monotonic() + DOCUMENT_MS };
    current.catch(() => {
      known = undefined;
    });
    return current;
  };
}

async function documentOf({ document, settings }: OidcProvider): Promise<JsonObject> {
  try {
    return await document();
  } catch (error) {
    throw asUpstreamFailure(settings.name, error);
  }
}

async function endpointOf(provider: OidcProvider, key: 'authorization_endpoint' | 'token_endpoint'): Promise<string> {
  const { name, issuerUrl } = provider.settings;
  const { [key]: value } = await documentOf(provider);
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null) throw upstreamFailure(name, 'invalid', `its discovery names no ${key}`);
  if (isProtected(url) || new URL(issuerUrl).protocol === 'http:') return url.href;
  throw upstreamFailure(name, 'invalid', `its discovery names a ${key} that is not https`);
}

async function tokenEndpoint(provider: OidcProvider): Promise<TokenEndpoint> {
  const url = await endpointOf(provider, 'token_endpoint');
  const methods = textsIn((await documentOf(provider)).token_endpoint_auth_methods_supported);
  return {
    url,
    client: provider.settings,
    // If the provider lists no methods, the method is client_secret_basic (OpenID Connect Discovery 1.0 section 3).
    secretIn: methods.includes('client_secret_post') ? 'form' : 'header',
    allowPrivate: isSameHost(url, provider.settings.issuerUrl),
  };
}

/** Throws a Failure if the answer names another issuer (RFC 9207 section 2.4). */
async function checkResponseIssuer(provider: OidcProvider, parameters: URLSearchParams): Promise<void> {
  const { name, issuerUrl } = provider.settings;
  const iss = parameters.get('iss');
  const { authorization_response_iss_parameter_supported: promised } = await documentOf(provider);
  if (iss === issuerUrl || (iss === null && promised !== true)) return;
  throw upstreamFailure(
    name,
    'invalid',
    `the answer is ${iss === null ? 'of no issuer' : 'of another issuer'}, not of ${issuerUrl}`,
  );
}

/** Verifies an id_token (OpenID Connect Core 1.0 section 3.1.3.7). */
async function checkIdToken(
  { settings, keys, ports }: OidcProvider,
  token: string,
  nonce: string | undefined,
): Promise<JsonObject> {
  const { name, issuerUrl, clientId } = settings;
  const checked = await checkJwt(keys.find, token, { issuer: issuerUrl, audience: clientId }, ports.clock.now());
  if (!checked.ok) {
    const kind = checked.refusal.reason === 'keys-unavailable' ? 'unavailable' : 'invalid';
    throw upstreamFailure(name, kind, `its id_token is refused: ${checked.refusal.reason}`);
  }
  const { claims } = checked;
  if (nonce !== undefined && claims.nonce !== nonce)
    throw upstreamFailure(name, 'invalid', 'its id_token belongs to another login');
  if (claims.azp !== undefined && claims.azp !== clientId)
    throw upstreamFailure(name, 'invalid', 'its id_token is for another client');
  return claims;
}

/**
 * Removes the settings for the subject. The configured claim of the id_token identifies the person, so the userinfo
 * endpoint only has to return the same `sub` as the id_token.
 */
function withoutSubjectFields(userInfo: UserInfoSettings | undefined): UserInfoSettings | undefined {
  const { subject_fields: _, ...others } = userInfo?.field_mapping ?? {};
  return userInfo && { ...userInfo, field_mapping: others };
}

type KnownPerson = UserInfo & { readonly subject: string };

/** Identifies the person by the id_token, unless the settings name subject fields of the userinfo endpoint. */
async function personOf(
  { ports, settings }: OidcProvider,
  claims: JsonObject,
  accessToken: string,
): Promise<KnownPerson> {
  const { name, subjectClaim } = settings;
  const userInfo = subjectClaim === undefined ? settings.userInfo : withoutSubjectFields(settings.userInfo);
  const said = userInfoOf(claims);
  const asked =
    userInfo === undefined
      ? undefined
      : await askUserInfo({ ports, provider: name, allowPrivate: true }, userInfo, accessToken);
  const isMapped = userInfo?.field_mapping?.subject_fields !== undefined;
  // OpenID Connect Core 1.0 section 5.3.2 requires this check.
  if (asked !== undefined && !isMapped && asked.subject !== said.subject) {
    throw upstreamFailure(name, 'invalid', 'its userinfo endpoint names another subject than its id_token');
  }
  const own = subjectClaim === undefined ? said : userInfoOf(claims, { subject_fields: [subjectClaim] });
  const subject = isMapped ? asked?.subject : own.subject;
  if (subject === undefined) throw upstreamFailure(name, 'invalid', 'it names no subject');
  return { subject, name: asked?.name ?? said.name, email: asked?.email ?? said.email };
}
