// Serves the URLs of the servers on this machine at the main port of `skep dev`. Checks Host, Origin and token, and
// forwards requests to the server that the path names.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { RUNNING_SERVERS_PATH, type RunningServer, type RunningServers } from '#contracts/running-servers.ts';
import { originRules } from '#gateway/gate/origin.ts';
import { bearerToken, isOneOf } from '#std/secret.ts';
import type { ConsoleFront } from './console.ts';
import { createForward, type Forwarding } from './forward.ts';

export interface FrontServer extends Omit<RunningServer, 'url'> {
  /** Port on 127.0.0.1 that leads to the Service of the server's proxy. */
  readonly port: number;
  /** True if the server has an authorization server, whose issuer is the server's URL. */
  readonly issues?: boolean;
}

export interface FrontOptions {
  /** Origin of the listener, such as `http://127.0.0.1:8080`. */
  readonly origin: () => string;
  readonly token: string;
  readonly servers: () => Promise<readonly FrontServer[]>;
  /** Console of the reconciler. If not set, the paths of the console are not served. */
  readonly console?: ConsoleFront;
}

export interface Front {
  /** Returns false if the request is for the catalogue, which the caller must serve. */
  serve(request: IncomingMessage, response: ServerResponse): boolean;
  list(): Promise<readonly RunningServer[]>;
  close(): void;
}

/**
 * Well-known paths, after which the path of the resource or issuer follows (RFC 9728 section 3.1 and RFC 8414 section
 * 3.1).
 */
const WELL_KNOWN =
  /^\/\.well-known\/(oauth-protected-resource|oauth-authorization-server|openid-configuration)(?=\/mcp\/)/;
const SERVER_PATH = /^\/mcp\/([a-z0-9.-]+)\/([a-z0-9.-]+)(?=\/|$)/;

/**
 * Paths of an authorization server below its issuer. They are forwarded unchanged, because the authorization server
 * expects its whole URL.
 */
const ISSUER_PATH = /^\/(oauth|\.well-known)\//;

export function createFront(options: FrontOptions): Front {
  const { origin, token } = options;
  const forward = createForward();

  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const isDocument = WELL_KNOWN.test(path);
    const [prefix = '', namespace, name] = SERVER_PATH.exec(path.replace(WELL_KNOWN, '')) ?? [];
    const server = (await options.servers()).find((each) => each.namespace === namespace && each.name === name);
    const isIssuer = server?.issues === true && ISSUER_PATH.test(path.slice(prefix.length));
    const refusal = refuse(request, new URL(origin()).port, isIssuer);
    if (refusal !== undefined) return sendJson(response, 403, { error: refusal });
    if (options.console?.has(path) === true) return options.console.answer(request, response);
    if (path === RUNNING_SERVERS_PATH) {
      if (request.method !== 'GET') return sendJson(response, 405, { error: 'only GET' }, { allow: 'GET' });
      const listed: RunningServers = {
        version: 1,
        authorised: carriesToken(request, token),
        servers: await listServers(options),
      };
      return sendJson(response, 200, listed);
    }
    if (server?.notRunHere !== undefined)
      return sendJson(response, 503, { error: `${namespace}/${name} does not run here: ${server.notRunHere}` });
    if (server === undefined) return sendJson(response, 404, { error: `no server of this name runs here: ${path}` });
    const authorised = server.auth === 'oidc' || isDocument || carriesToken(request, token);
    if (!authorised) return sendJson(response, 401, { error: TOKEN_MISSING }, { 'www-authenticate': 'Bearer' });
    const { search } = new URL(request.url ?? '/', origin());
    const inner = isDocument || isIssuer ? path : innerPath(server, path.slice(prefix.length));
    const forwarding: Forwarding = {
      ...server,
      prefix,
      target: `${inner}${search}`,
      keepsToken: server.auth === 'oidc',
    };
    forward.pass(forwarding, request, response);
  }

  return {
    serve(request, response) {
      const [path = '/'] = (request.url ?? '/').split('?', 1);
      const isServers = path === RUNNING_SERVERS_PATH || path.startsWith('/mcp/') || WELL_KNOWN.test(path);
      const isOurs = isServers || options.console?.has(path) === true;
      if (!isOurs) return false;
      // Disables the socket's timeout, because streams may be idle for longer than the catalogue allows.
      request.socket.setTimeout(0);
      answer(request, response, path).catch((error: unknown) => {
        sendJson(response, 500, { error: error instanceof Error ? error.message : String(error) });
      });
      return true;
    },
    list: () => listServers(options),
    close: forward.close,
  };
}

async function listServers({ origin, servers }: FrontOptions): Promise<readonly RunningServer[]> {
  const listed = (await servers()).map(({ port: _port, issues: _issues, ...server }): RunningServer => {
    const { namespace, name } = server;
    return { ...server, url: `${origin()}${RUNNING_SERVERS_PATH}/${namespace}/${name}` };
  });
  return listed.toSorted((a, b) => byText(idOf(a), idOf(b)));
}

const TOKEN_MISSING =
  'the token of skep dev is missing: read it from the file token in its folder, such as .skep/dev/token';

function idOf({ namespace, name }: RunningServer): string {
  return `${namespace}/${name}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the path at the proxy. `rest`: part of the requested path after the path of the server's URL. */
function innerPath({ transport }: FrontServer, rest: string): string {
  if (rest !== '' && rest !== '/') return rest;
  return transport === 'sse' ? '/sse' : '/mcp';
}

/**
 * Returns a refusal if the Host is foreign (DNS rebinding) or if a page of another site sent the request (MCP
 * specification, Transports, Security Warning). Requests to an authorization server may come from other sites, because
 * logins lead browsers there. The authorization server checks the origin of its pages itself.
 */
function refuse(request: IncomingMessage, port: string, isIssuer: boolean): string | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const settings = { listenHost: '127.0.0.1', allowedHosts: hosts, trustForwarded: false };
  const denial = originRules(settings).refuse(request);
  if (denial !== undefined || isIssuer) return denial?.message;
  const site = request.headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none'
    ? undefined
    : 'Pages of other sites may not call.';
}

function carriesToken(request: IncomingMessage, token: string): boolean {
  const given = bearerToken(request.headers.authorization);
  return given !== undefined && isOneOf(given, [token]);
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const kept = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response.writeHead(status, { ...kept, 'x-content-type-options': 'nosniff', ...headers });
  response.end(`${JSON.stringify(value)}\n`);
}
