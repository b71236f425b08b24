// Provides tokens for one server: stored tokens, refreshed tokens, or tokens of a new login in the browser. The
// official MCP client implements OAuth 2.1: discovery (RFC 9728, RFC 8414), client registration (RFC 7591), PKCE,
// resource indicators (RFC 8707) and the issuer in responses (RFC 9207).

import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  InsufficientScopeError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/client';
import { Failure } from '#std/failure.ts';
import { awaitReturn, openBrowser, type Return } from './browser.ts';
import type { LoginFile } from './logins.ts';
import type { Terminal } from './terminal.ts';

export interface LoginSettings {
  readonly terminal: Terminal;
  readonly file: LoginFile;
  readonly fetch: FetchLike;
  /** If set, this client is used, and no client is registered. */
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly scope: string | undefined;
  /** Environment variable BROWSER. If set, a login is possible without a terminal. */
  readonly browser: string | undefined;
  /** Returns a random value that other programs cannot guess. */
  readonly newState: () => string;
}

/** Uses a fixed token, without a login. */
export function fixedToken(token: string): LoginProvider {
  return {
    stepUp: () => Promise.resolve(false),
    token: () => Promise.resolve(token),
    onUnauthorized: () => {
      throw new Failure('call-login', 'the server refuses the token of --token-file');
    },
  };
}

export interface LoginProvider extends AuthProvider {
  /** Logs in again if the error requires more scopes. Returns false for any other error. */
  stepUp(error: unknown, serverUrl: URL): Promise<boolean>;
}

/** Returns the provider. Its methods throw Failure `call-login`. */
export function loginProvider(settings: LoginSettings): LoginProvider {
  return {
    token: async () => (await settings.file.read()).tokens?.access_token,
    onUnauthorized: ({ response, serverUrl }) => {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      return logIn(settings, { serverUrl, resourceMetadataUrl, scope: settings.scope ?? scope });
    },
    stepUp: async (error, serverUrl) => {
      if (!(error instanceof InsufficientScopeError)) return false;
      const { resourceMetadataUrl, requiredScope } = error;
      const { tokens } = await settings.file.read();
      // A refreshed token has only the scopes of the earlier token (MCP 2026-07-28, Authorization, Step-Up
      // Authorization Flow).
      const scope = computeScopeUnion(tokens?.scope, requiredScope);
      await logIn(settings, { serverUrl, resourceMetadataUrl, scope, forceReauthorization: true });
      return true;
    },
  };
}

type LoginRequest = Pick<
  Parameters<typeof auth>[1],
  'serverUrl' | 'resourceMetadataUrl' | 'scope' | 'forceReauthorization'
>;

async function logIn(settings: LoginSettings, request: LoginRequest): Promise<void> {
  const { port } = await settings.file.read();
  const back = await awaitReturn(port);
  try {
    await logInThrough(settings, back, request);
  } finally {
    back.close();
  }
}

async function logInThrough(settings: LoginSettings, back: Return, request: LoginRequest): Promise<void> {
  const { terminal, fetch } = settings;
  const state = settings.newState();
  const provider = oauthProvider(settings, back, state);
  const options = { ...request, fetchFn: fetch };
  const named = request.resourceMetadataUrl !== undefined;
  const result = await auth(provider, options).catch((cause) => (named ? refuse(cause) : refuseUnnamed(cause)));
  if (result === 'AUTHORIZED') return;
  const query = await back.comesBack(state);
  const code = query.get('code');
  if (code === null) {
    const reason = query.get('error_description') ?? query.get('error') ?? 'the browser returned no code';
    throw new Failure('call-login', `the login was refused: ${reason}`);
  }
  await auth(provider, { ...options, authorizationCode: code, iss: query.get('iss') ?? undefined }).catch(refuse);
  terminal.say('Logged in.');
}

/**
 * Throws the Failure for a server that names no authorization server. The user may have a token for the server, so the
 * message names `--token-file`.
 */
function refuseUnnamed(cause: unknown): never {
  if (cause instanceof Failure) throw cause;
  const message = 'the server requires a token and does not name an issuer: use --token-file';
  throw new Failure('call-login', message, { cause });
}

function refuse(cause: unknown): never {
  if (cause instanceof Failure) throw cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new Failure('call-login', `cannot log in: ${message}`, { cause });
}

function oauthProvider(settings: LoginSettings, back: Return, state: string): OAuthClientProvider {
  const { terminal, scope, clientSecret, browser } = settings;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  return {
    redirectUrl: back.url,
    clientMetadata: {
      client_name: 'skep call',
      redirect_uris: [back.url],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_post',
      application_type: 'native',
      scope,
    },
    state: () => state,
    ...keptInFile(settings, back),
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    // The code must go to the same authorization server that the browser has visited.
    saveDiscoveryState: (state) => {
      discovered = state;
    },
    discoveryState: () => discovered,
    redirectToAuthorization: (url) => {
      if (!terminal.interactive && browser === undefined) {
        const message =
          'the server requires a login, and there is no terminal: run the command at a terminal, or use --token-file';
        throw new Failure('call-login', message);
      }
      if (url.protocol !== 'https:' && url.protocol !== 'http:') {
        throw new Failure(
          'call-login',
          `the page for the login is at ${url.protocol}, and only https and http pages are opened`,
        );
      }
      terminal.say(`Log in with your browser: ${url.href}`);
      openBrowser(url, browser);
    },
  };
}

/** Stores the client and the tokens in the file for later calls. */
function keptInFile({ file, clientId, clientSecret }: LoginSettings, back: Return) {
  return {
    clientInformation: async () => {
      if (clientId !== undefined) return { client_id: clientId, client_secret: clientSecret };
      const { client, port } = await file.read();
      // A client is registered with one port. For another port, the authorization server would refuse the redirect.
      return port === back.port ? client : undefined;
    },
    saveClientInformation: async (client) => {
      // A client from the options is not stored, because the client may contain a secret.
      if (clientId === undefined) await file.write({ ...(await file.read()), port: back.port, client });
    },
    tokens: async () => (await file.read()).tokens,
    saveTokens: async (tokens) => file.write({ ...(await file.read()), port: back.port, tokens }),
    invalidateCredentials: async (what) => {
      const { client, tokens, ...rest } = await file.read();
      if (what === 'tokens') await file.write({ ...rest, client });
      if (what === 'client' || what === 'all') await file.write(what === 'all' ? rest : { ...rest, tokens });
    },
  } satisfies Partial<OAuthClientProvider>;
}
