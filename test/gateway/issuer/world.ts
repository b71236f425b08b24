// Starts a proxy with an authorization server, an MCP server and a real provider, and performs the single OAuth steps
// of a client. In one file, because each step uses the result of the step before: registration, login, code, tokens,
// call.

import { createHash, randomBytes } from 'node:crypto';
import type { RunConfig } from '#contracts/run-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { type LoginProvider, startLoginProvider, UPSTREAM_CLIENT } from '../../harness/login-provider.ts';
import { type AttackedProxy, call, HEADERS, proxyBefore, startServer, type TestServer } from '../proxy/rig.ts';
import { CLIENT_REDIRECT, newPerson, type Person } from './person.ts';

export type AuthServer = NonNullable<RunConfig['embedded_auth_server_config']>;
type Upstream = AuthServer['upstreams'][number];

export interface LoginWorld {
  /** Issuer of the tokens, and URL of the proxy. */
  readonly issuer: string;
  readonly resource: string;
  readonly provider: LoginProvider;
  readonly server: TestServer;
  readonly proxy: AttackedProxy;
}

export interface LoginWorldOptions {
  /** Settings of the authorization server, or a function that returns them for the resource. */
  readonly auth?: Partial<AuthServer> | ((resource: string) => Partial<AuthServer>);
  readonly upstreams?: (issuer: string, provider: LoginProvider) => readonly Upstream[];
  readonly config?: Partial<RunConfig>;
  readonly provider?: LoginProvider;
  readonly accessSeconds?: number;
  /** Path of the issuer below the origin. */
  readonly path?: string;
  /** Scopes that the resource announces. */
  readonly scopes?: readonly string[];
}

const SECRET_VARIABLE = 'TOOLHIVE_UPSTREAM_CLIENT_SECRET_LOGIN';

export function oidcUpstream(
  issuer: string,
  { url }: LoginProvider,
  more: Partial<NonNullable<Upstream['oidc_config']>> = {},
): Upstream {
  return {
    name: 'login',
    type: 'oidc',
    oidc_config: {
      issuer_url: url,
      client_id: UPSTREAM_CLIENT.id,
      client_secret_env_var: SECRET_VARIABLE,
      redirect_uri: `${issuer}/oauth/callback`,
      scopes: ['openid', 'offline_access'],
      ...more,
    },
  };
}

/** Starts the servers. `stopAll` of the rig stops all except the provider. */
export async function openLoginWorld(options: LoginWorldOptions = {}): Promise<LoginWorld> {
  const { accessSeconds, path = '', scopes = ['openid', 'weather'] } = options;
  const provider = options.provider ?? (await startLoginProvider({ accessSeconds }));
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}${path}`;
  const resource = `http://127.0.0.1:${port}/mcp`;
  const server = await startServer();
  const proxy = await proxyBefore(server.port, {
    port,
    environment: { [SECRET_VARIABLE]: UPSTREAM_CLIENT.secret },
    oidc_config: oidcConfig(issuer, resource, scopes),
    embedded_auth_server_config: {
      schema_version: 'v0.1.0',
      issuer,
      token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
      upstreams: [...(options.upstreams?.(issuer, provider) ?? [oidcUpstream(issuer, provider)])],
      scopes_supported: ['openid', 'profile', 'email', 'offline_access', 'weather'],
      allowed_audiences: [resource],
      storage: { type: 'memory' },
      ...(typeof options.auth === 'function' ? options.auth(resource) : options.auth),
    },
    ...options.config,
  });
  return { issuer, resource, provider, server, proxy };
}

function oidcConfig(
  issuer: string,
  resource: string,
  scopes: readonly string[],
): NonNullable<RunConfig['oidc_config']> {
  return {
    issuer,
    resource_url: resource,
    scopes: [...scopes],
    jwks_allow_private_ip: false,
    protected_resource_allow_private_ip: false,
    insecure_allow_http: false,
  };
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly token_type: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? JSON.parse(text) : { text },
  };
}

let registered = 0;

export async function register({ issuer }: Pick<LoginWorld, 'issuer'>, metadata: object = {}): Promise<Answer> {
  registered += 1;
  return answerOf(
    await fetch(`${issuer}/oauth/register`, {
      method: 'POST',
      // If proxy headers are trusted, each registration comes from another address.
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': `192.0.${registered >> 8}.${registered & 255}`,
      },
      body: JSON.stringify({
        client_name: 'Weather app',
        redirect_uris: [CLIENT_REDIRECT],
        grant_types: ['authorization_code', 'refresh_token'],
        ...metadata,
      }),
    }),
  );
}

export async function newClient(world: Pick<LoginWorld, 'issuer'>, metadata: object = {}): Promise<string> {
  return String((await register(world, metadata)).body.client_id);
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Returns the URL of an authorization request. undefined removes a parameter. */
export function authorizeUrl(
  { issuer }: Pick<LoginWorld, 'issuer'>,
  client: string,
  pkce: Pkce,
  more: Readonly<Record<string, string | undefined>> = {},
): string {
  const all = {
    response_type: 'code',
    client_id: client,
    redirect_uri: CLIENT_REDIRECT,
    state: 'state of the client',
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...more,
  };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${issuer}/oauth/authorize?${new URLSearchParams(given)}`;
}

export async function post(
  url: string,
  form: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
  return answerOf(
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body,
    }),
  );
}

export function redeem(
  { issuer }: Pick<LoginWorld, 'issuer'>,
  client: string,
  code: string,
  pkce: Pkce,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return post(`${issuer}/oauth/token`, {
    grant_type: 'authorization_code',
    client_id: client,
    code,
    code_verifier: pkce.verifier,
    redirect_uri: CLIENT_REDIRECT,
    ...more,
  });
}

export function refresh(
  { issuer }: Pick<LoginWorld, 'issuer'>,
  client: string,
  token: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return post(`${issuer}/oauth/token`, {
    grant_type: 'refresh_token',
    client_id: client,
    refresh_token: token,
    ...more,
  });
}

export function tokensOf({ status, body }: Answer): Tokens {
  if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
  return body as unknown as Tokens;
}

export interface LoggedIn {
  readonly client: string;
  readonly person: Person;
  readonly pkce: Pkce;
  readonly code: string;
  readonly tokens: Tokens;
}

export async function logIn(
  world: Pick<LoginWorld, 'issuer'> & { readonly proxy?: Pick<AttackedProxy, 'log'> },
  {
    person = newPerson(),
    client,
    more = {},
  }: { person?: Person; client?: string; more?: Readonly<Record<string, string | undefined>> } = {},
): Promise<LoggedIn> {
  const id = client ?? (await newClient(world));
  const pkce = newPkce();
  const place = await person.visit(authorizeUrl(world, id, pkce, more));
  const code = place.url.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${place.status} ${place.url} ${place.text}\n${world.proxy?.log.text()}`);
  return { client: id, person, pkce, code, tokens: tokensOf(await redeem(world, id, code, pkce)) };
}

/** Calls a tool with the token. */
export async function callMcp(
  { resource }: Pick<LoginWorld, 'resource'>,
  token: string | undefined,
  tool = 'echo',
): Promise<Response> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetch(resource, {
    method: 'POST',
    headers: { ...HEADERS, ...authorization },
    body: JSON.stringify(call(tool)),
  });
}
