// Starts a real OpenID provider on 127.0.0.1 that logs in the account of the test without a prompt. It counts requests,
// and tests can replace its responses.

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type OpenProvider, Provider } from 'oidc-provider';

export const UPSTREAM_CLIENT = { id: 'skep', secret: 'p%ss:w+rd & more' } as const;

export interface LoginProvider {
  /** URL of the issuer. */
  readonly url: string;
  /** Account of the next login. */
  account: string;
  /** Groups of the account of the next login: the claim `groups` of its id_token. */
  groups: readonly string[];
  /** Lifetime of new access tokens in seconds. */
  accessSeconds: number;
  /** Number of requests by path. */
  readonly requests: ReadonlyMap<string, number>;
  /** Returns true if it handles the request instead of the provider. */
  fault: ((path: string, request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

export async function startLoginProvider({ accessSeconds = 3600 } = {}): Promise<LoginProvider> {
  const requests = new Map<string, number>();
  let handle: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    requests.set(path, (requests.get(path) ?? 0) + 1);
    if (login.fault?.(path, request, response) !== true) handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const login: LoginProvider = {
    url,
    account: 'ada',
    groups: [],
    accessSeconds,
    requests,
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  handle = handlerOf(login);
  return login;
}

function handlerOf(login: LoginProvider): RequestListener {
  const provider = new Provider(login.url, configuration(login));
  // Accepts any redirect URI, because the port of the proxy differs between tests.
  provider.Client.prototype.redirectUriAllowed = () => true;
  const answer = provider.callback();
  return (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response);
    void finish(provider, login, request, response);
  };
}

async function finish(
  provider: OpenProvider,
  login: LoginProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: login.account } });
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

function configuration(login: LoginProvider): object {
  const day = () => 86_400;
  return {
    clients: [
      {
        client_id: UPSTREAM_CLIENT.id,
        client_secret: UPSTREAM_CLIENT.secret,
        redirect_uris: ['https://anywhere.example/back'],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    cookies: { keys: ['only for tests'] },
    ttl: {
      AccessToken: () => login.accessSeconds,
      AuthorizationCode: () => 60,
      Grant: day,
      IdToken: day,
      Interaction: day,
      Session: day,
      RefreshToken: day,
    },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        name: `${id} of the tests`,
        email: `${id}@example.com`,
        email_verified: true,
        groups: login.groups,
      }),
    }),
    claims: { openid: ['sub', 'name', 'email', 'email_verified', 'groups'] },
    conformIdTokenClaims: false,
    scopes: ['openid', 'offline_access'],
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    features: { devInteractions: { enabled: false }, userinfo: { enabled: true } },
  };
}
