// Runs the issuer of the sample fleet: issues tokens to everyone who enters a name. Only `skep dev` loads this file,
// because the issuer requires no password.

import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import type { OpenProvider } from 'oidc-provider';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../../clock.ts';
import { LOGIN_HEADERS, loginPage } from './login-page.ts';
import { type IssuerStore, openIssuerStore } from './store.ts';

export interface SampleIssuer {
  /** `iss` of the tokens, which is the same at every start. */
  readonly url: string;
  stop(): Promise<void>;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const SCOPES = 'openid offline_access';
const LOGIN_PATH = '/login/';

/** Returns undefined if the optional package is not installed. Throws Failure `listen-failed`. */
export async function startSampleIssuer(dir: string): Promise<SampleIssuer | undefined> {
  const loaded = await import('oidc-provider').catch(() => undefined);
  if (loaded === undefined) return undefined;
  mkdirSync(dir, { recursive: true });
  const store = openIssuerStore(join(dir, 'issuer.json'), () => Math.floor(systemClock.now() / 1000));
  let handle: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => handle(request, response));
  const port = await listenAgain(server, store);
  const url = `http://127.0.0.1:${port}`;
  const provider = new loaded.Provider(url, configuration(store, await signingKey(store)));
  letFleetReturn(provider);
  const answer = provider.callback();
  handle = (request, response) => {
    const isLogin = request.url?.startsWith(LOGIN_PATH) === true;
    if (!isLogin) return answer(request, response);
    logIn(provider, request, response).catch(() => {
      // The login has ended, or belongs to another browser.
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'text/plain' });
      response.end('This login is over. Go back and log in again.\n');
    });
  };
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Listens on the port of the first start, because manifests contain the issuer's URL. */
async function listenAgain(server: ReturnType<typeof createServer>, store: IssuerStore): Promise<number> {
  const before = Number(store.get('port')?.number ?? 0);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(before, '127.0.0.1', () => resolve());
  }).catch((cause: Error) => {
    throw new Failure('listen-failed', `the sample issuer cannot listen on 127.0.0.1:${before}: ${cause.message}`, {
      cause,
    });
  });
  const { port } = server.address() as AddressInfo;
  store.set('port', { number: port });
  return port;
}

async function signingKey(store: IssuerStore): Promise<object> {
  const kept = store.get('key');
  if (kept !== undefined) return kept;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: randomBytes(8).toString('hex') };
  store.set('key', key);
  return key;
}

/**
 * Client that all authorization servers in the fleet's proxies use. Because of it, the authorization servers do not
 * need to register themselves.
 */
const FLEET = { client_id: 'sample-fleet', client_name: 'The sample fleet' } as const;

/**
 * Lets the fleet's client redirect to the callback of every proxy on this machine. Other clients may redirect only to
 * their registered URIs.
 */
function letFleetReturn(provider: OpenProvider): void {
  const { prototype } = provider.Client;
  const allowed = prototype.redirectUriAllowed;
  prototype.redirectUriAllowed = function isAllowed(this: { readonly clientId: string }, uri: string): boolean {
    const isFleet = this.clientId === FLEET.client_id;
    return isFleet ? FLEET_CALLBACK.test(uri) : allowed.call(this, uri);
  };
}

const FLEET_CALLBACK = /^http:\/\/127\.0\.0\.1:\d+\/mcp\/[a-z0-9.-]+\/[a-z0-9.-]+\/oauth\/callback$/;

function configuration(store: IssuerStore, key: object): object {
  return {
    adapter: store.model,
    clients: [{ ...FLEET, redirect_uris: ['http://127.0.0.1/oauth/callback'], application_type: 'native' }],
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    clientDefaults: { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] },
    pkce: { required: () => true },
    scopes: SCOPES.split(' '),
    claims: { openid: ['sub', 'name'] },
    findAccount: async (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, name: id }),
    }),
    // The audit log of a proxy identifies callers by this claim.
    extraTokenClaims: async (_context: unknown, { accountId }: { accountId?: string }) => ({ name: accountId }),
    issueRefreshToken: async (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `${LOGIN_PATH}${uid}` },
    ttl: {
      AccessToken: HOUR_SECONDS,
      AuthorizationCode: 60,
      Grant: 30 * DAY_SECONDS,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      RefreshToken: 30 * DAY_SECONDS,
      Session: HOUR_SECONDS,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: SCOPES,
          audience: audienceOf(resource),
          accessTokenTTL: HOUR_SECONDS,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  };
}

/**
 * Returns `<namespace>/<name>` for the URL of a server on this machine, whatever the port. Returns other resources
 * unchanged.
 */
function audienceOf(resource: string): string {
  const [, server] = /^http:\/\/(?:127\.0\.0\.1|localhost):\d+\/mcp\/([^/]+\/[^/]+)/.exec(resource) ?? [];
  return server ?? resource;
}

async function logIn(provider: OpenProvider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { uid, params } = await provider.interactionDetails(request, response);
  const clientId = String(params.client_id);
  const resource = String(params.resource ?? '');
  if (request.method !== 'POST') {
    const { clientName = clientId } = (await provider.Client.find(clientId)) ?? {};
    const redirectUri = String(params.redirect_uri);
    const page = loginPage({ action: `${LOGIN_PATH}${uid}`, client: clientName, redirectUri, resource });
    response.writeHead(200, LOGIN_HEADERS).end(page);
    return;
  }
  const form = new URLSearchParams(await bodyOf(request));
  const name = form.get('name') ?? '';
  if (form.get('answer') !== 'allow' || !/^[\w.@-]{1,64}$/.test(name)) {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
    return;
  }
  const grant = new provider.Grant({ clientId, accountId: name });
  grant.addOIDCScope(SCOPES);
  if (resource !== '') grant.addResourceScope(resource, SCOPES);
  const grantId = await grant.save();
  // Logins are not remembered, so every client must enter the name again.
  await provider.interactionFinished(request, response, {
    login: { accountId: name, remember: false },
    consent: { grantId },
  });
}

const MAX_FORM = 4096;

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_FORM) throw new Error('the form is too long');
  }
  return text;
}
