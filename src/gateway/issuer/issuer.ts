// Handles requests to the authorization server. Requests and answers are plain values.

import type { JSONWebKeySet } from 'jose';
import { trustingFetch } from '#auth/trusting-fetch.ts';
import { Failure } from '#std/failure.ts';
import { type Clients, createClients } from './clients/clients.ts';
import { createClientDocuments, isDocumentUrl } from './clients/document.ts';
import { type IssuerCode, isIssuerCode } from './codes.ts';
import { createCookies } from './cookies.ts';
import { createDelegates } from './grants/delegates.ts';
import { createTrust } from './grants/trust.ts';
import { createIssuerSecrets, type IssuerSecrets } from './keys/secrets.ts';
import { createSigningKeys } from './keys/signing-keys.ts';
import { errorAnswer, type IssuerAnswer, type IssuerRequest } from './message.ts';
import { errorPage } from './pages/pages.ts';
import type { IssuerPorts } from './ports.ts';
import { type IssuerRoute, issuerRoutes } from './routes.ts';
import { createUpstreamIdTokens, createUpstreamTokens, type FindUpstreamToken } from './sessions.ts';
import type { IssuerSettings } from './settings.ts';
import { createOAuth2Upstream } from './upstream/oauth2.ts';
import { createOIDCUpstream } from './upstream/oidc.ts';
import { createUpstreamRegistration } from './upstream/registration.ts';
import { initialToken } from './upstream/registration-request.ts';
import type { UpstreamSettings } from './upstream/settings.ts';
import { upstreamSecret } from './upstream/token-request.ts';
import type { Upstream } from './upstream/upstream.ts';
import type { IssuerWorld } from './world.ts';

/** Counts an answer by endpoint name and HTTP status. */
export type CountAnswer = (endpoint: string, status: number) => void;

export interface AuthorizationServer {
  /** Returns whether the path belongs to this server. */
  owns(path: string): boolean;
  /** Handles a request to a path of this server. Never rejects. */
  handle(request: IssuerRequest): Promise<IssuerAnswer>;
  /** Returns the keys that verify this server's tokens. Returns the same object until the keys change. */
  publishedKeys(): JSONWebKeySet;
  readonly upstreamToken: FindUpstreamToken;
  readonly upstreamIdToken: FindUpstreamToken;
}

/** Creates the server. Throws a Failure if keys, secrets or settings are not usable. */
export function createAuthorizationServer(
  ports: IssuerPorts,
  settings: IssuerSettings,
  count: CountAnswer,
): AuthorizationServer {
  const secrets = createIssuerSecrets(ports, settings.secretFiles);
  const [first, ...others] = settings.upstreams;
  const world: IssuerWorld = {
    settings,
    ports,
    secrets,
    keys: createSigningKeys(ports, settings.keyFiles),
    cookies: createCookies(settings, secrets, ports),
    clients: openClients(ports, settings),
    findTrusted: createTrust(ports, settings.trusted),
    kept: new Map(),
    upstreams: [
      createUpstream(ports, secrets, first),
      ...others.map((upstream) => createUpstream(ports, secrets, upstream)),
    ],
  };
  warnOfEphemeral(world);
  const routes = issuerRoutes(world);
  return {
    owns: (path) => routes.has(path),
    async handle(request) {
      const route = routes.get(request.path);
      const answer =
        route === undefined
          ? errorPage(404, 'Not found', 'There is nothing here.')
          : await answerRoute(world, route, request);
      count(route?.name ?? 'other', answer.status);
      return answer;
    },
    publishedKeys: world.keys.published,
    upstreamToken: createUpstreamTokens(world),
    upstreamIdToken: createUpstreamIdTokens(world),
  };
}

/** Creates a provider. Reads the provider's secret once, so that a missing secret prevents the start. */
function createUpstream(ports: IssuerPorts, secrets: IssuerSecrets, settings: UpstreamSettings): Upstream {
  upstreamSecret(ports, settings);
  const trusting = { ...ports, fetch: trustingFetch(ports.fetch, ports.files, settings.caBundleFile) };
  if (settings.type === 'oidc') return createOIDCUpstream(trusting, settings);
  const { registration } = settings;
  if (registration === undefined) return createOAuth2Upstream(trusting, settings, undefined);
  initialToken(ports, registration);
  const own = createUpstreamRegistration(trusting, secrets, { ...settings, registration });
  return createOAuth2Upstream(trusting, settings, own);
}

function warnOfEphemeral({ settings, ports }: IssuerWorld): void {
  const missing = [
    ...(settings.keyFiles.length === 0 ? ['signing key'] : []),
    ...(settings.secretFiles.length === 0 ? ['HMAC secret'] : []),
  ];
  if (missing.length === 0) return;
  const message = `no ${missing.join(' and no ')} is configured: one was generated, and after a restart every login is lost`;
  ports.notify({ code: 'issuer-keys-ephemeral', level: 'warn', message, data: { missing } });
}

async function answerRoute(world: IssuerWorld, route: IssuerRoute, request: IssuerRequest): Promise<IssuerAnswer> {
  const handle =
    request.method === 'HEAD' ? route.methods.GET : route.methods[request.method === 'POST' ? 'POST' : 'GET'];
  const isKnown = ['GET', 'HEAD', 'POST'].includes(request.method);
  if (route.audience === 'client' && request.method === 'OPTIONS') return PREFLIGHT;
  if (handle === undefined || !isKnown) return notAllowed(route);
  const waitSeconds = route.limit?.(request.address);
  if (waitSeconds !== undefined) return tooMany(world, route, waitSeconds);
  try {
    return opened(route, await handle(world, request));
  } catch (error) {
    return opened(route, faultAnswer(world, route, error));
  }
}

/**
 * Headers that let pages of all origins read the answers. This is safe, because the answers do not depend on cookies.
 */
const OPEN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, www-authenticate',
} as const;

const PREFLIGHT: IssuerAnswer = {
  status: 204,
  headers: {
    ...OPEN,
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
    'access-control-max-age': '600',
  },
  body: '',
};

function opened({ audience }: IssuerRoute, answer: IssuerAnswer): IssuerAnswer {
  return audience === 'client' ? { ...answer, headers: { ...answer.headers, ...OPEN } } : answer;
}

function notAllowed(route: IssuerRoute): IssuerAnswer {
  const answer =
    route.audience === 'client'
      ? errorAnswer(METHOD_REFUSED, 405)
      : errorPage(405, 'Not that way', 'Go back to the app and connect again.');
  return opened(route, { ...answer, headers: { ...answer.headers, allow: Object.keys(route.methods).join(', ') } });
}

const METHOD_REFUSED = { error: 'invalid_request', description: 'the method is not allowed here' } as const;

function tooMany({ ports }: IssuerWorld, route: IssuerRoute, seconds: number): IssuerAnswer {
  ports.notify({
    code: 'issuer-too-many-requests',
    level: 'info',
    message: `too many requests to ${route.name}`,
    data: { endpoint: route.name },
  });
  const description = `too many requests from your network; try again in ${seconds} s`;
  const answer =
    route.audience === 'client'
      ? errorAnswer({ error: 'slow_down', description }, 429)
      : errorPage(429, 'Too many at once', `${description}.`);
  return opened(route, { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } });
}

/**
 * Answers an unexpected error. A Failure of another area means that the store is unavailable. Any other error is a bug
 * in this server.
 */
function faultAnswer({ ports }: IssuerWorld, route: IssuerRoute, error: unknown): IssuerAnswer {
  const isFailure = error instanceof Failure;
  const message = error instanceof Error ? (isFailure ? error.message : (error.stack ?? error.message)) : String(error);
  const code = isFailure ? failureCode(error) : 'issuer-internal';
  ports.notify({ code, level: 'warn', message, data: isFailure ? { cause: error.code } : {} });
  const description = 'the server cannot do that at the moment; try again';
  if (route.audience === 'client')
    return errorAnswer({ error: 'temporarily_unavailable', description }, isFailure ? 503 : 500);
  return errorPage(
    isFailure ? 503 : 500,
    'Not at the moment',
    'The login cannot be continued right now. Wait a little, then connect again from the app.',
  );
}

function failureCode({ code }: Failure): IssuerCode {
  return isIssuerCode(code) ? code : 'issuer-store-unavailable';
}

/** Opens the store of clients. If documents are disabled, clients whose id is a URL are unknown. */
function openClients(ports: IssuerPorts, { documents, delegates }: IssuerSettings): Clients {
  const findDelegate = createDelegates(ports, delegates);
  const findDocument = documents === undefined ? async () => undefined : createClientDocuments(ports, documents);
  return createClients(ports, findDelegate, findDocument, isDocumentUrl);
}
