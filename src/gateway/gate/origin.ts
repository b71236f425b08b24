// Validates the Host and Origin headers of requests, against DNS rebinding and pages of other sites (MCP specification,
// Transports, Security Warning). Sets the headers that let pages of allowed origins read answers (Fetch standard,
// CORS).

import { singleHeader } from '../wire/headers.ts';
import type { Denial } from './codes.ts';

export interface OriginSettings {
  readonly listenHost: string;
  /** URL of the protected resource, if configured. Pages of its host may send requests. */
  readonly resourceUrl?: string;
  /**
   * Allowed hosts. A host without a port allows every port, and `*` allows every host. If absent, every host is
   * allowed, but a loopback listener allows only names of this machine.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Allowed origins, in addition to origins of the gateway's own host. `*` allows every origin. If absent or empty,
   * CORS is off.
   */
  readonly allowedOrigins?: readonly string[];
  /** True if the host in X-Forwarded-Host also counts as the gateway's own host. */
  readonly trustForwarded: boolean;
}

/** Head of a request. Header names are in lower case. */
interface RequestHead {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

type ResponseHeaders = Readonly<Record<string, string>>;

export interface OriginRules {
  /** Returns the refusal. undefined if the request is allowed. */
  refuse(request: RequestHead): Denial | undefined;
  /**
   * If the listener is on loopback, returns the refusal of a request with a Host that is neither a name of this machine
   * nor an allowed host. A page of another site could otherwise reach the listener by DNS rebinding. Applies to all
   * endpoints, including health, metrics and login. Names of this machine are always allowed, because probes use them.
   */
  refuseRebinding(request: RequestHead): Denial | undefined;
  /** Returns the CORS headers for every answer. Empty if CORS is off. */
  headers(request: RequestHead): ResponseHeaders;
  /**
   * Returns the headers of the answer (204) to a preflight request. undefined if the request is not an allowed
   * preflight request.
   */
  preflight(request: RequestHead): ResponseHeaders | undefined;
}

const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate';
const METHODS = 'GET, POST, DELETE, OPTIONS';
/** Headers that clients send. MCP 2026-07-28 adds Mcp-Param-*, whose names depend on the tools. */
const ACCEPTED = [
  ...['Accept', 'Authorization', 'Content-Type', 'Last-Event-ID'],
  ...['Mcp-Session-Id', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
  ...['traceparent', 'tracestate', 'baggage', 'X-Request-Id'],
].join(', ');
const PARAM_HEADER = /^mcp-param-[a-z0-9-]{1,100}$/;
const PREFLIGHT_SECONDS = '7200';

export function originRules(settings: OriginSettings): OriginRules {
  const { allowedOrigins = [], resourceUrl } = settings;
  const anyOrigin = allowedOrigins.includes('*');
  const origins = new Set(allowedOrigins.map(normalOrigin));
  const resourceHost = resourceUrl === undefined ? undefined : URL.parse(resourceUrl)?.host;
  const hostFits = hostRule(settings);
  const isRebound = isLoopback(settings.listenHost)
    ? (host: string | undefined) => !loopbackRule(host) && !hostFits(host)
    : () => false;

  function isAllowed(origin: string): boolean {
    return anyOrigin || origins.has(origin);
  }

  /** Accepts origins of the gateway's own host with any scheme, because a proxy may terminate TLS. */
  function isOwn(request: RequestHead, origin: string): boolean {
    const url = webOrigin(origin);
    if (url === undefined) return false;
    const own = [
      singleHeader(request.headers, 'host'),
      settings.trustForwarded ? singleHeader(request.headers, 'x-forwarded-host') : undefined,
    ];
    return url.host === resourceHost || own.some((host) => host !== undefined && sameHost(url, host));
  }

  function headers(request: RequestHead): ResponseHeaders {
    if (allowedOrigins.length === 0) return NO_HEADERS;
    const origin = singleHeader(request.headers, 'origin');
    if (origin === undefined || !isAllowed(origin)) return VARY;
    const allowed = anyOrigin ? '*' : origin;
    return { ...VARY, 'access-control-allow-origin': allowed, 'access-control-expose-headers': EXPOSED };
  }

  return {
    headers,
    refuseRebinding: (request) => (isRebound(singleHeader(request.headers, 'host')) ? HOST_REFUSED : undefined),
    refuse(request) {
      if (!hostFits(singleHeader(request.headers, 'host'))) return HOST_REFUSED;
      const { origin } = request.headers;
      if (origin === undefined) return undefined;
      const fits = typeof origin === 'string' && (isAllowed(origin) || isOwn(request, origin));
      return fits ? undefined : ORIGIN_REFUSED;
    },
    preflight(request) {
      const origin = singleHeader(request.headers, 'origin');
      const asked =
        request.method === 'OPTIONS' && singleHeader(request.headers, 'access-control-request-method') !== undefined;
      if (!asked || origin === undefined || !isAllowed(origin)) return undefined;
      return {
        ...headers(request),
        vary: 'Origin, Access-Control-Request-Headers',
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': [ACCEPTED, ...paramHeaders(request)].join(', '),
        'access-control-max-age': PREFLIGHT_SECONDS,
      };
    },
  };
}

const NO_HEADERS: ResponseHeaders = {};
const VARY: ResponseHeaders = { vary: 'Origin' };

const ORIGIN_REFUSED: Denial = {
  httpStatus: 403,
  rpcCode: 403,
  code: 'origin-refused',
  message: 'Pages of this origin are not allowed to call.',
};
const HOST_REFUSED: Denial = {
  httpStatus: 403,
  rpcCode: 403,
  code: 'host-refused',
  message: 'This host is not served here.',
};

function paramHeaders(request: RequestHead): readonly string[] {
  const asked = singleHeader(request.headers, 'access-control-request-headers') ?? '';
  const names = asked.split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => PARAM_HEADER.test(name));
}

/**
 * Returns undefined for `null`, for texts that are not origins, and for origins of browser extensions. Only the list of
 * allowed origins can allow such texts.
 */
function webOrigin(origin: string): URL | undefined {
  const url = URL.parse(origin);
  const plain = url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.origin === origin;
  return plain ? url : undefined;
}

/**
 * Returns the origin as browsers write it (RFC 6454 section 6.1). Settings may have a slash at the end or capital
 * letters.
 */
function normalOrigin(origin: string): string {
  const url = URL.parse(origin);
  const isWeb = url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
  return isWeb && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
    ? url.origin
    : origin;
}

/** Returns whether an origin has the host of a Host header. The origin's default port may be present or absent. */
function sameHost(origin: URL, host: string): boolean {
  const own = URL.parse(`${origin.protocol}//${host}`);
  return own !== null && own.pathname === '/' && own.username === '' && own.host === origin.host;
}

type HostRule = (host: string | undefined) => boolean;

function hostRule({ listenHost, allowedHosts }: OriginSettings): HostRule {
  if (allowedHosts === undefined) return isLoopback(listenHost) ? rememberLast(loopbackRule) : () => true;
  if (allowedHosts.includes('*')) return () => true;
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  return rememberLast((host) => {
    const given = host === undefined ? undefined : authority(host);
    return given !== undefined && (allowed.has(given.name) || allowed.has(`${given.name}:${given.port}`));
  });
}

/** Remembers the last accepted host, because nearly all clients send the same host. */
function rememberLast(fits: HostRule): HostRule {
  let last: string | undefined;
  return (host) => {
    if (host !== undefined && host === last) return true;
    if (!fits(host)) return false;
    last = host;
    return true;
  };
}

function loopbackRule(host: string | undefined): boolean {
  const given = host === undefined ? undefined : authority(host);
  return given !== undefined && isLoopback(given.name);
}

/** Returns whether a name always means this machine (RFC 6761 section 6.3). */
function isLoopback(name: string): boolean {
  const plain = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return plain === 'localhost' || plain.endsWith('.localhost') || plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;

/** Parses a Host header (RFC 9110 section 7.2). Returns undefined if the header is invalid. */
function authority(host: string): { readonly name: string; readonly port: string } | undefined {
  const [, name, port = '80'] = AUTHORITY.exec(host.toLowerCase()) ?? [];
  return name === undefined ? undefined : { name, port };
}
