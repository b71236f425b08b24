// The challenge of RFC 6750 and the metadata of RFC 9728, section by section, asked over the service's own answers.
// Where the documented service differs it is said so.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE, type Gate, openGate } from './gate.ts';

let issuer: Issuer;
let gate: Gate;

beforeAll(async () => {
  issuer = await startIssuer();
});

afterAll(() => issuer.close());

afterEach(() => gate.close());

const URL_PATH = '/other/v0.1/servers';

function token(claims: Record<string, unknown> = {}): Promise<string> {
  return issuer.sign({ iss: issuer.url, aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 60, ...claims });
}

interface Challenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** RFC 9110 section 11.6.1: one challenge, its parameters quoted; a parameter that comes twice is a mistake. */
function parseChallenge(header: string): Challenge {
  const [, scheme = '', rest = ''] = /^([A-Za-z]+) (.*)$/.exec(header) ?? [];
  const pairs = [...rest.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:, |$)/g)];
  expect(pairs.map(([pair]) => pair).join('')).toBe(rest);
  const names = pairs.map(([, name = '']) => name);
  expect(new Set(names).size).toBe(names.length);
  return { scheme, parameters: Object.fromEntries(pairs.map(([, name, value]) => [name, value])) };
}

async function challengeOf(headers: Record<string, string>, url = URL_PATH) {
  const response = await gate.app.inject({ url, headers });
  return {
    status: response.statusCode,
    cache: response.headers['cache-control'],
    challenge: parseChallenge(String(response.headers['www-authenticate'])),
  };
}

describe('RFC 6750', () => {
  test.each([
    {
      section: '2.1',
      headers: (good: string) => ({ authorization: `Bearer ${good}` }),
      in: true,
      reason: 'the header',
    },
    {
      section: '2.1',
      headers: (good: string) => ({ authorization: `bearer ${good}` }),
      in: true,
      reason: 'in any case (RFC 9110 11.1)',
    },
    { section: '2.1', headers: (good: string) => ({ authorization: `Bearer  ${good}` }), in: true, reason: '1*SP' },
    { section: '2.1', headers: (good: string) => ({ authorization: good }), in: false, reason: 'no scheme' },
    {
      section: '2.1',
      headers: (good: string) => ({ authorization: `Token ${good}` }),
      in: false,
      reason: 'another scheme',
    },
    {
      section: '2.1',
      headers: (good: string) => ({ authorization: `Bearer "${good}"` }),
      in: false,
      reason: 'no b64token',
    },
    {
      section: '2.1',
      headers: (good: string) => ({ 'x-authorization': `Bearer ${good}` }),
      in: false,
      reason: 'another header',
    },
  ])('section $section: a token is taken from the header only ($reason)', async ({ headers, in: isIn }) => {
    gate = await openGate([{ issuerUrl: issuer.url }]);
    const { statusCode } = await gate.app.inject({
      url: URL_PATH,
      headers: headers(await token()) as Record<string, string>,
    });
    expect(statusCode).toBe(isIn ? 404 : 401);
  });

  test('sections 2.2 and 2.3: not from a form, nor from the query', async () => {
    gate = await openGate([{ issuerUrl: issuer.url }]);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const good = await token();
    const posted = await gate.app.inject({
      method: 'POST',
      url: URL_PATH,
      headers: form,
      payload: `access_token=${good}`,
    });
    expect(posted.statusCode).toBe(401);
    expect((await challengeOf({}, `${URL_PATH}?access_token=${good}`)).status).toBe(401);
  });

  test.each([
    { sent: {}, error: undefined, reason: 'section 3: no credentials, no error code' },
    { sent: { authorization: 'Basic dTpw' }, error: undefined, reason: 'section 3: nor for another scheme' },
    {
      sent: { authorization: 'Bearer' },
      error: 'invalid_request',
      reason: 'section 3.1, with the 401 of the documented service',
    },
    { sent: { authorization: 'Bearer a b' }, error: 'invalid_request', reason: 'section 3.1: malformed' },
    { sent: { authorization: 'Bearer expired' }, error: 'invalid_token', reason: 'section 3.1: expired or malformed' },
  ])('$reason: $error', async ({ sent, error }) => {
    gate = await openGate([{ issuerUrl: issuer.url }]);
    const { status, cache, challenge } = await challengeOf(sent as Record<string, string>);
    expect({ status, cache, scheme: challenge.scheme }).toEqual({ status: 401, cache: 'no-store', scheme: 'Bearer' });
    expect(challenge.parameters.error).toBe(error);
    expect('error_description' in challenge.parameters).toBe(error !== undefined);
    expect(challenge.parameters.realm).toBe('mcp-registry');
    // Section 3: characters that the value of error_description may have.
    expect(challenge.parameters.error_description ?? '').toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
  });

  test('section 3.1: insufficient_scope is 403 and says what is needed', async () => {
    gate = await openGate([{ issuerUrl: issuer.url }], { enforceScopes: true });
    const { status, challenge } = await challengeOf({ authorization: `Bearer ${await token({ scope: 'openid' })}` });
    expect({ status, error: challenge.parameters.error, scope: challenge.parameters.scope }).toEqual({
      status: 403,
      error: 'insufficient_scope',
      scope: 'mcp-registry:read',
    });
  });

  test('section 5.3: the realm is what is configured, and cannot break out', async () => {
    gate = await openGate([{ issuerUrl: issuer.url }], { realm: 'a "quoted" \\ realm' });
    const { challenge } = await challengeOf({});
    expect(challenge.parameters.realm).toBe('a \\"quoted\\" \\\\ realm');
  });
});

/** RFC 9728 section 3.1: the well-known part goes between the host and the path. */
const RESOURCES = [
  { resource: 'https://registry.example', at: '/.well-known/oauth-protected-resource' },
  { resource: 'https://registry.example/', at: '/.well-known/oauth-protected-resource' },
  { resource: 'https://registry.example:8443', at: '/.well-known/oauth-protected-resource' },
  { resource: 'https://registry.example/tools', at: '/.well-known/oauth-protected-resource/tools' },
  { resource: 'https://registry.example/tools/', at: '/.well-known/oauth-protected-resource/tools/' },
  { resource: 'https://registry.example/a/b/c', at: '/.well-known/oauth-protected-resource/a/b/c' },
  { resource: 'https://registry.example/a%20b', at: '/.well-known/oauth-protected-resource/a%20b' },
  { resource: 'https://registry.example/tools?tenant=1', at: '/.well-known/oauth-protected-resource/tools?tenant=1' },
] as const;

describe('RFC 9728', () => {
  test.each(RESOURCES)('section 3.1: the metadata of $resource is at $at', async ({ resource, at }) => {
    gate = await openGate([{ issuerUrl: issuer.url }], { resourceUrl: resource });
    // Section 5.1: the challenge says where.
    const { challenge } = await challengeOf({});
    const url = challenge.parameters.resource_metadata ?? '';
    expect(url).toBe(`${new URL(resource).origin}${at}`);
    const { pathname, search } = new URL(url);
    const response = await gate.app.inject({ url: `${pathname}${search}` });
    // Section 3.2: 200 and application/json.
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    // Section 3.3: the same identifier that the URL was made of, character by character.
    expect(response.json().resource).toBe(resource);
    // Document 1 wants it at the bare path as well.
    const bare = await gate.app.inject({ url: '/.well-known/oauth-protected-resource' });
    expect(bare.json()).toEqual(response.json());
  });

  test('section 2: the members, no others, and none that is empty', async () => {
    gate = await openGate(
      [{ issuerUrl: issuer.url }, { issuerUrl: 'https://second.example' }, { issuerUrl: issuer.url }],
      {
        scopesSupported: ['a', 'b'],
        resourceDocumentation: 'https://docs.example',
      },
    );
    const response = await gate.app.inject({ url: '/.well-known/oauth-protected-resource' });
    expect(response.json()).toEqual({
      resource: 'https://registry.example/base',
      authorization_servers: [issuer.url, 'https://second.example'],
      scopes_supported: ['a', 'b'],
      bearer_methods_supported: ['header'],
      resource_documentation: 'https://docs.example',
    });
    expect(response.headers['access-control-allow-origin']).toBe('*');
  });

  test('section 3: no other resource has metadata here, and none of it needs a token', async () => {
    gate = await openGate([{ issuerUrl: issuer.url }]);
    for (const [path, status] of [
      ['/base', 200],
      ['/base/', 200],
      ['/bas', 404],
      ['/base/more', 404],
      ['/other', 404],
    ] as const) {
      const { statusCode } = await gate.app.inject({ url: `/.well-known/oauth-protected-resource${path}` });
      expect({ path, status: statusCode }).toEqual({ path, status });
    }
  });
});
