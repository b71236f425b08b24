// Logs people in at an OAuth 2.0 provider without OpenID Connect. The token response or the userinfo endpoint
// identifies the person.

import { Failure } from '#std/failure.ts';
import { pkceChallenge } from '../keys/pkce.ts';
import type { IssuerPorts } from '../ports.ts';
import type { UpstreamRegistration } from './registration.ts';
import type { RegisteredClient } from './registration-request.ts';
import type { UpstreamClient, UpstreamSettings } from './settings.ts';
import { plainWord, requestTokens, type TokenAnswer } from './token-request.ts';
import { type Upstream, upstreamFailure, type Visit } from './upstream.ts';
import { askUserInfo } from './user-info.ts';

type OAuth2Settings = Extract<UpstreamSettings, { readonly type: 'oauth2' }>;

/** Creates the provider. `registration` is undefined if the configuration names the client. */
export function createOAuth2Upstream(
  ports: IssuerPorts,
  settings: OAuth2Settings,
  registration: UpstreamRegistration | undefined,
): Upstream {
  const { name, redirectUri, mapping, identity } = settings;
  const endpoint = {
    url: settings.tokenEndpoint,
    allowPrivate: settings.allowPrivate ?? true,
    mapping,
    identity: 'subject_path' in identity ? identity : undefined,
  };

  async function askTokens(grant: Readonly<Record<string, string>>): Promise<TokenAnswer> {
    if (registration === undefined)
      return requestTokens(ports, { ...endpoint, client: settings, secretIn: 'form' }, grant);
    const own = await registration.find();
    const secretIn = own.method === 'client_secret_basic' ? 'header' : 'form';
    try {
      return await requestTokens(ports, { ...endpoint, client: registered(settings, own), secretIn }, grant);
    } catch (error) {
      if (error instanceof Failure && error.data.error === 'invalid_client') await registration.forget(own);
      throw error;
    }
  }

  return {
    name,
    host: new URL(settings.authorizationEndpoint).host,
    redirectUri,
    async authorizationUrl(visit) {
      const own = await registration?.find();
      const client = own === undefined ? settings : registered(settings, own);
      return visitUrl(settings.authorizationEndpoint, client, visit);
    },
    async redeem({ verifier }, parameters) {
      const code = codeFrom(name, parameters);
      const answer = await askTokens(codeGrant(code, redirectUri, verifier));
      const { idToken: _, identity: person, ...tokens } = answer;
      const { subject, ...shown } =
        'subject_path' in identity
          ? (person ?? {})
          : await askUserInfo(
              { ports, provider: name, allowPrivate: endpoint.allowPrivate },
              identity,
              tokens.accessToken,
            );
      if (subject === undefined) {
        const place = 'subject_path' in identity ? 'token response' : 'userinfo endpoint';
        throw upstreamFailure(name, 'invalid', `its ${place} names no subject`);
      }
      return { subject, ...shown, tokens: { ...tokens, subject } };
    },
    async refresh({ refreshToken = '', subject }) {
      const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
      const { idToken: _, identity: _identity, ...tokens } = await askTokens(grant);
      return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken, subject };
    },
  };
}

function registered(settings: OAuth2Settings, { id, secret }: RegisteredClient): UpstreamClient {
  return { ...settings, clientId: id, clientSecret: secret };
}

/** Builds the URL of an authorization request (RFC 6749 section 4.1.1) with a PKCE challenge (RFC 7636). */
export function visitUrl(
  endpoint: string,
  client: UpstreamClient,
  { state, verifier }: Visit,
  more: Readonly<Record<string, string>> = {},
): string {
  const url = new URL(endpoint);
  const parameters = {
    ...client.authorizationParameters,
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    ...(client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') }),
    state,
    code_challenge: pkceChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  };
  for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  return url.href;
}

/**
 * Returns the code in the parameters of the callback. Throws a Failure if the provider refused the login or sent no
 * code.
 */
export function codeFrom(provider: string, parameters: URLSearchParams): string {
  const error = parameters.get('error');
  if (error !== null) throw upstreamFailure(provider, 'refused', `it answered ${plainWord(error)}`);
  const code = parameters.get('code');
  if (code === null || code === '') throw upstreamFailure(provider, 'invalid', 'it sent no code');
  return code;
}

export function codeGrant(code: string, redirectUri: string, verifier: string): Readonly<Record<string, string>> {
  return { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
}
