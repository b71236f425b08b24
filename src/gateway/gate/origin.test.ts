import { describe, expect, it, test } from 'vitest';
import { type OriginSettings, originRules } from './origin.ts';

const SETTINGS: OriginSettings = { listenHost: '0.0.0.0', trustForwarded: false };

type Heads = Readonly<Record<string, string | readonly string[]>>;

function refused(settings: Partial<OriginSettings>, headers: Heads): string {
  return originRules({ ...SETTINGS, ...settings }).refuse({ method: 'POST', headers })?.code ?? 'in';
}

type Row = readonly [reason: string, settings: Partial<OriginSettings>, headers: Heads, expected: string];

describe('Host', () => {
  const loopback = { listenHost: '127.0.0.1' };
  const listed = { allowedHosts: ['mcp.example.com', 'Other.example.com:8443'] };

  test.each<Row>([
    ['is not looked at elsewhere', {}, { host: 'evil.example' }, 'in'],
    ['localhost on loopback', loopback, { host: 'localhost:8080' }, 'in'],
    ['an address on loopback', loopback, { host: '127.0.0.1:8080' }, 'in'],
    ['another address of loopback', loopback, { host: '127.1.2.3' }, 'in'],
    ['IPv6 on loopback', { listenHost: '::1' }, { host: '[::1]:8080' }, 'in'],
    ['a name below localhost', loopback, { host: 'weather.localhost:8080' }, 'in'],
    ['capitals on loopback', loopback, { host: 'LocalHost' }, 'in'],
    ['a rebound name on loopback', loopback, { host: 'evil.example:8080' }, 'host-refused'],
    ['a name that begins like loopback', loopback, { host: 'localhost.evil.example' }, 'host-refused'],
    ['a name that begins like an address', loopback, { host: '127.0.0.1.evil.example' }, 'host-refused'],
    ['a name that ends like loopback', loopback, { host: 'evillocalhost' }, 'host-refused'],
    ['user info', loopback, { host: 'localhost@evil.example' }, 'host-refused'],
    ['no Host on loopback', loopback, {}, 'host-refused'],
    ['an empty Host on loopback', loopback, { host: '' }, 'host-refused'],
    ['a listed one', listed, { host: 'MCP.example.com:1234' }, 'in'],
    ['a listed one with its port', listed, { host: 'other.example.com:8443' }, 'in'],
    ['a listed one with another port', listed, { host: 'other.example.com' }, 'host-refused'],
    ['one that is not listed', listed, { host: 'x.mcp.example.com' }, 'host-refused'],
    ['a list on loopback', { ...loopback, ...listed }, { host: 'localhost' }, 'host-refused'],
    ['each if all are listed', { ...loopback, allowedHosts: ['*'] }, { host: 'evil.example' }, 'in'],
  ])('%s', (_reason, settings, headers, expected) => {
    expect(refused(settings, headers)).toBe(expected);
  });
});

describe('Origin', () => {
  const host = 'mcp.example.com';
  const resource = { resourceUrl: 'https://public.example.com/mcp' };
  const listed = { allowedOrigins: ['https://app.example.com/', 'vscode-webview://abc'] };

  test.each<Row>([
    ['need not be there', {}, { host }, 'in'],
    ['of the own host', {}, { host, origin: 'https://mcp.example.com' }, 'in'],
    ['of the own host without TLS', {}, { host, origin: 'http://mcp.example.com' }, 'in'],
    ['of the own host and port', {}, { host: 'localhost:8080', origin: 'http://localhost:8080' }, 'in'],
    [
      'of the own host with the default port',
      {},
      { host: 'mcp.example.com:443', origin: 'https://mcp.example.com' },
      'in',
    ],
    [
      'of another port of the own host',
      {},
      { host: 'localhost:8080', origin: 'http://localhost:3000' },
      'origin-refused',
    ],
    ['of another host', {}, { host, origin: 'https://evil.example' }, 'origin-refused'],
    ['of a host that ends alike', {}, { host, origin: 'https://evilmcp.example.com' }, 'origin-refused'],
    ['of a host that begins alike', {}, { host, origin: 'https://mcp.example.com.evil.example' }, 'origin-refused'],
    ['with user info', {}, { host, origin: 'https://mcp.example.com@evil.example' }, 'origin-refused'],
    ['with a path', {}, { host, origin: 'https://mcp.example.com/x' }, 'origin-refused'],
    ['null', {}, { host, origin: 'null' }, 'origin-refused'],
    ['empty', {}, { host, origin: '' }, 'origin-refused'],
    ['twice', {}, { host, origin: 'https://mcp.example.com, https://evil.example' }, 'origin-refused'],
    ['as a list', {}, { host, origin: ['https://mcp.example.com'] }, 'origin-refused'],
    ['of an extension', {}, { host: 'abc', origin: 'chrome-extension://abc' }, 'origin-refused'],
    ['of the resource', resource, { host: 'pod:8080', origin: 'https://public.example.com' }, 'in'],
    [
      'of a forwarded host without trust',
      {},
      { host, 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' },
      'origin-refused',
    ],
    [
      'of a forwarded host with trust',
      { trustForwarded: true },
      { host, 'x-forwarded-host': 'public.example.com', origin: 'https://public.example.com' },
      'in',
    ],
    ['of the list', listed, { host, origin: 'https://app.example.com' }, 'in'],
    ['of the list, no page of the web', listed, { host, origin: 'vscode-webview://abc' }, 'in'],
    ['of the list with another scheme', listed, { host, origin: 'http://app.example.com' }, 'origin-refused'],
    ['of the list with a port', listed, { host, origin: 'https://app.example.com:8443' }, 'origin-refused'],
    ['of the own host beside a list', listed, { host, origin: 'https://mcp.example.com' }, 'in'],
    ['each if all are listed', { allowedOrigins: ['*'] }, { host, origin: 'https://evil.example' }, 'in'],
    ['null if all are listed', { allowedOrigins: ['*'] }, { host, origin: 'null' }, 'in'],
    [
      'of a rebound name on loopback',
      { listenHost: '127.0.0.1' },
      { host: 'evil.example', origin: 'http://evil.example' },
      'host-refused',
    ],
  ])('%s', (_reason, settings, headers, expected) => {
    expect(refused(settings, headers)).toBe(expected);
  });
});

describe('CORS', () => {
  const app = 'https://app.example.com';
  const rules = originRules({ ...SETTINGS, allowedOrigins: [app] });
  const asking = (origin: string, headers: Heads = {}) => ({
    method: 'OPTIONS',
    headers: { host: 'mcp.example.com', origin, 'access-control-request-method': 'POST', ...headers },
  });

  it('is off if no origins are allowed', () => {
    const off = originRules(SETTINGS);
    expect(off.headers({ headers: { host: 'mcp.example.com', origin: 'https://mcp.example.com' } })).toEqual({});
    expect(off.preflight(asking('https://mcp.example.com'))).toBeUndefined();
  });

  it('lets pages of an allowed origin read the headers that MCP needs', () => {
    expect(rules.headers({ method: 'POST', headers: { origin: app } })).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': app,
      'access-control-expose-headers': 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate',
    });
  });

  it('tells caches that answers depend on the origin, even for requests without an origin', () => {
    expect(rules.headers({ headers: {} })).toEqual({ vary: 'Origin' });
    expect(rules.headers({ headers: { origin: 'https://evil.example' } })).toEqual({ vary: 'Origin' });
  });

  it('answers a preflight of an allowed origin with every header that clients send', () => {
    const answer = rules.preflight(
      asking(app, { 'access-control-request-headers': 'mcp-param-region, x-evil, Mcp-Param-Zone' }),
    );
    expect(answer).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    });
    expect(answer?.['access-control-allow-headers']?.split(', ')).toEqual([
      ...['Accept', 'Authorization', 'Content-Type', 'Last-Event-ID', 'Mcp-Session-Id', 'MCP-Protocol-Version'],
      ...['Mcp-Method', 'Mcp-Name', 'traceparent', 'tracestate', 'baggage', 'X-Request-Id'],
      ...['mcp-param-region', 'mcp-param-zone'],
    ]);
  });

  it('does not answer a preflight of another origin, or a request that is not a preflight', () => {
    expect(rules.preflight(asking('https://evil.example'))).toBeUndefined();
    expect(rules.preflight({ ...asking(app), method: 'POST' })).toBeUndefined();
    expect(rules.preflight({ method: 'OPTIONS', headers: { origin: app } })).toBeUndefined();
  });

  it('allows * if all origins are allowed', () => {
    const open = originRules({ ...SETTINGS, allowedOrigins: ['*'] });
    expect(open.headers({ headers: { origin: app } })).toMatchObject({ 'access-control-allow-origin': '*' });
  });
});
