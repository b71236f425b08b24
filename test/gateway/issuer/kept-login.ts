// Stores the login state of an official client, and records the URLs that the client would open in a browser.

import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { CLIENT_REDIRECT } from './person.ts';

export interface KeptLogin {
  tokens?: OAuthTokens;
  client?: OAuthClientInformationMixed;
  verifier: string;
  opened: URL[];
}

export function newKeptLogin(): KeptLogin {
  return { verifier: '', opened: [] };
}

export function clientProvider(kept: KeptLogin): OAuthClientProvider {
  return {
    redirectUrl: CLIENT_REDIRECT,
    clientMetadata: {
      client_name: 'Official client',
      redirect_uris: [CLIENT_REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
    },
    state: () => 'a state',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (url) => void kept.opened.push(url),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    invalidateCredentials: () => void Object.assign(kept, { tokens: undefined }),
  };
}
