// Tests requirements of the RFCs by section; attacks are in attacks.test.ts, clients with keys in documents.test.ts. In
// one file, because the requirements are one table, and its rows share one server, its metadata and the tokens of one
// login.

import { createHash } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, type DirectIssuer, oidcTo, openDirect, RESOURCE } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import {
  type Answer,
  authorizeUrl,
  newClient,
  newPkce,
  redeem,
  refresh,
  register,
  type Tokens,
  tokensOf,
} from './world.ts';

type Row = readonly [section: string, requirement: string, check: () => unknown];

let provider: RecordingProvider;
let issuer: DirectIssuer;
let metadata: Record<string, unknown>;
let tokens: Tokens;
let client: string;

beforeAll(async () => {
  provider = await startRecordingProvider();
  issuer = await openDirect({ config: (origin) => configOf(origin, [oidcTo(origin, provider)]) });
  metadata = (await metadataAt('/.well-known/oauth-authorization-server')).body;
  client = await newClient(issuer);
  const { code, pkce } = await codeFor({});
  tokens = tokensOf(await redeem(issuer, client, code, pkce));
});
afterAll(async () => {
  await issuer.close();
  await provider.close();
});

async function metadataAt(path: string): Promise<Answer> {
  const response = await fetch(`${issuer.origin}${path}`);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

/** Logs in and returns the parameters of the redirect to the client. */
async function sentBack(
  more: Readonly<Record<string, string | undefined>>,
  pkce = newPkce(),
): Promise<URLSearchParams> {
  return (await newPerson().visit(authorizeUrl(issuer, client, pkce, more))).url.searchParams;
}

async function codeFor(more: Readonly<Record<string, string | undefined>>, pkce = newPkce()) {
  return { code: (await sentBack(more, pkce)).get('code') ?? '', pkce };
}

/** Returns the audience of a token with the given `resource` parameters at both endpoints, or the error. */
async function audienceOf(atAuthorize: string | undefined, atToken: string | undefined): Promise<unknown> {
  const { code, pkce } = await codeFor({ resource: atAuthorize });
  const answer = await redeem(issuer, client, code, pkce, atToken === undefined ? {} : { resource: atToken });
  return answer.status === 200 ? decodeJwt(String(answer.body.access_token)).aud : answer.body.error;
}

function pkceOf(verifier: string) {
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

async function redeemedWith(verifier: string): Promise<unknown> {
  const pkce = pkceOf(verifier);
  const { code } = await codeFor({}, pkce);
  return (await redeem(issuer, client, code, pkce)).body.error;
}

const texts = (name: string) => metadata[name] as readonly string[];
const URLS = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint', 'jwks_uri'];
const claims = () => decodeJwt(tokens.access_token);

describe.each<[string, readonly Row[]]>([
  [
    'RFC 8414, metadata of the server',
    [
      ['2', 'issuer is the identifier itself', () => expect(metadata.issuer).toBe(issuer.issuer)],
      ['2', 'issuer has no query and no fragment', () => expect(issuer.issuer).not.toMatch(/[?#]/)],
      [
        '2',
        'every endpoint is below the issuer',
        () => {
          for (const name of URLS) expect(metadata[name]).toMatch(new RegExp(`^${issuer.issuer}/`));
        },
      ],
      [
        '2',
        'response types are there, and only what is true',
        () => expect(texts('response_types_supported')).toEqual(['code']),
      ],
      [
        '2',
        'the default response modes (query, fragment) are not left to be assumed',
        () => expect(texts('response_modes_supported')).toEqual(['query']),
      ],
      [
        '2',
        'the default grants (authorization_code, implicit) are not left to be assumed',
        () => expect(texts('grant_types_supported')).toEqual(['authorization_code', 'refresh_token']),
      ],
      [
        '2',
        'algorithms are there where clients prove themselves with a JWT, and none is not among them',
        () => {
          for (const endpoint of ['token', 'revocation']) {
            expect(texts(`${endpoint}_endpoint_auth_methods_supported`)).toContain('private_key_jwt');
            expect(texts(`${endpoint}_endpoint_auth_signing_alg_values_supported`)).toContain('RS256');
            expect(texts(`${endpoint}_endpoint_auth_signing_alg_values_supported`)).not.toContain('none');
          }
        },
      ],
      ['2', 'methods of PKCE are there', () => expect(texts('code_challenge_methods_supported')).toEqual(['S256'])],
      [
        '2',
        'the scopes that are announced can be asked for',
        async () => expect((await sentBack({ scope: texts('scopes_supported').join(' ') })).get('error')).toBeNull(),
      ],
      [
        '3',
        'it is asked with GET',
        async () => {
          const url = `${issuer.origin}/.well-known/oauth-authorization-server`;
          expect((await fetch(url, { method: 'POST' })).status).toBe(405);
        },
      ],
      [
        '3.2',
        'it is 200 with application/json',
        async () => {
          const { status, headers } = await metadataAt('/.well-known/oauth-authorization-server');
          expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/json/)]);
        },
      ],
      [
        '3.2',
        'claims without values are left out',
        () => {
          for (const value of Object.values(metadata)) expect(value).not.toEqual([]);
        },
      ],
      [
        '3.3',
        'the keys that it leads to check its tokens',
        async () => {
          const keys = (await (await fetch(String(metadata.jwks_uri))).json()) as JSONWebKeySet;
          await jwtVerify(tokens.access_token, createLocalJWKSet(keys), { issuer: String(metadata.issuer) });
        },
      ],
    ],
  ],
  [
    'RFC 7591, registration',
    [
      [
        '2',
        'what is left out has its default',
        async () =>
          expect((await register(issuer, { grant_types: undefined })).body).toMatchObject({
            grant_types: ['authorization_code'],
            response_types: ['code'],
          }),
      ],
      [
        '2',
        'metadata that is not known is ignored',
        async () =>
          expect((await register(issuer, { tls_client_certificate: true, 'x-anything': {} })).status).toBe(201),
      ],
      [
        '2.1',
        'grants and response types fit each other',
        async () =>
          expect((await register(issuer, { response_types: ['token'] })).body.error).toBe('invalid_client_metadata'),
      ],
      [
        '3.2.1',
        'it is 201, not to be stored, with the id and when it was given',
        async () => {
          const { status, headers, body } = await register(issuer);
          expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
          expect(body).toMatchObject({ client_id: expect.any(String), client_id_issued_at: expect.any(Number) });
        },
      ],
      [
        '3.2.1',
        'all that was registered is returned',
        async () => {
          const given = { client_name: 'An app', redirect_uris: ['https://app.example/a', 'https://app.example/b'] };
          expect((await register(issuer, given)).body).toMatchObject(given);
        },
      ],
      [
        '3.2.1',
        'without a secret nothing is said of its end',
        async () => expect((await register(issuer)).body).not.toHaveProperty('client_secret_expires_at'),
      ],
      ['3.2.1', 'ids are unique', async () => expect(await newClient(issuer)).not.toBe(await newClient(issuer))],
      [
        '3.2.2',
        'a redirect URI that cannot be used is invalid_redirect_uri, 400, as JSON',
        async () => {
          const { status, headers, body } = await register(issuer, { redirect_uris: ['https://app.example/#here'] });
          expect([status, body.error, headers.get('cache-control')]).toEqual([400, 'invalid_redirect_uri', 'no-store']);
        },
      ],
      [
        '5',
        'a redirect URI is protected by TLS, on this machine, or of an app of its own',
        async () => {
          for (const uri of ['http://app.example/', 'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd'])
            expect((await register(issuer, { redirect_uris: [uri] })).body.error).toBe('invalid_redirect_uri');
          expect((await register(issuer, { redirect_uris: ['com.example.app:/back'] })).status).toBe(201);
        },
      ],
    ],
  ],
  [
    'RFC 7636, PKCE',
    [
      [
        '4.1',
        'a verifier of 43 characters is enough, and 128 are not too many',
        async () => {
          expect(await redeemedWith('a'.repeat(43))).toBeUndefined();
          expect(await redeemedWith('~.-_'.repeat(32))).toBeUndefined();
        },
      ],
      [
        '4.1',
        'a shorter, a longer and one of other characters is none',
        async () => {
          for (const verifier of ['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(43)}+`])
            expect(await redeemedWith(verifier)).toMatch(/^invalid_(grant|request)$/);
        },
      ],
      [
        '4.4.1',
        'a request without a challenge is invalid_request',
        async () => expect((await sentBack({ code_challenge: undefined })).get('error')).toBe('invalid_request'),
      ],
      [
        '4.4.1',
        'a method that is not supported is invalid_request',
        async () => expect((await sentBack({ code_challenge_method: 'plain' })).get('error')).toBe('invalid_request'),
      ],
      [
        '4.6',
        'another verifier is invalid_grant',
        async () => {
          const { code } = await codeFor({});
          expect((await redeem(issuer, client, code, newPkce())).body.error).toBe('invalid_grant');
        },
      ],
      [
        '4.6',
        'the challenge itself is no verifier',
        async () => {
          const { code, pkce } = await codeFor({});
          const { body } = await redeem(issuer, client, code, { ...pkce, verifier: pkce.challenge });
          expect(body.error).toBe('invalid_grant');
        },
      ],
    ],
  ],
  [
    'RFC 8707, resources',
    [
      [
        '2',
        'a resource that is not an absolute URI, or has a fragment, is invalid_target',
        async () => {
          for (const resource of ['mcp', '/mcp', `${RESOURCE}#part`, ''])
            expect((await sentBack({ resource })).get('error')).toBe('invalid_target');
        },
      ],
      [
        '2',
        'a resource that there is not is invalid_target',
        async () =>
          expect((await sentBack({ resource: 'https://other.example/mcp' })).get('error')).toBe('invalid_target'),
      ],
      [
        '2',
        'without one the default is meant',
        async () => expect(await audienceOf(undefined, undefined)).toBe(RESOURCE),
      ],
      [
        '2.1',
        'the one of the authorization request is that of the token',
        async () => expect(await audienceOf(RESOURCE, undefined)).toBe(RESOURCE),
      ],
      [
        '2.2',
        'the one of the token request may be the same, and no other',
        async () => {
          expect(await audienceOf(RESOURCE, RESOURCE)).toBe(RESOURCE);
          expect(await audienceOf(RESOURCE, 'https://other.example/mcp')).toBe('invalid_target');
        },
      ],
      [
        '2.2',
        'a refresh is for the same resource, and for no other',
        async () => {
          const { code, pkce } = await codeFor({});
          const { refresh_token: token = '' } = tokensOf(await redeem(issuer, client, code, pkce));
          const other = await refresh(issuer, client, token, { resource: 'https://other.example/mcp' });
          expect(other.body.error).toBe('invalid_target');
          const same = await refresh(issuer, client, token, { resource: RESOURCE });
          expect(decodeJwt(tokensOf(same).access_token).aud).toBe(RESOURCE);
        },
      ],
    ],
  ],
  [
    'RFC 9068, access tokens',
    [
      ['2.1', 'the type is at+jwt', () => expect(decodeProtectedHeader(tokens.access_token).typ).toBe('at+jwt')],
      [
        '2.1',
        'it is signed, and not with none or a shared secret',
        () => expect(decodeProtectedHeader(tokens.access_token).alg).toMatch(/^(RS256|ES256|ES384|ES512|EdDSA)$/),
      ],
      [
        '2.2',
        'it has iss, exp, aud, sub, client_id, iat and jti',
        () =>
          expect(claims()).toMatchObject({
            iss: issuer.issuer,
            exp: expect.any(Number),
            aud: RESOURCE,
            sub: expect.any(String),
            client_id: client,
            iat: expect.any(Number),
            jti: expect.any(String),
          }),
      ],
      [
        '2.2',
        'expires_in is how long it lasts',
        () => expect(Number(claims().exp) - Number(claims().iat)).toBe(tokens.expires_in),
      ],
      [
        '2.2',
        'no two have one jti',
        async () => {
          const { code, pkce } = await codeFor({});
          expect(decodeJwt(tokensOf(await redeem(issuer, client, code, pkce)).access_token).jti).not.toBe(claims().jti);
        },
      ],
      ['2.2.3', 'scope is what was granted', () => expect(claims().scope).toBe(tokens.scope)],
      [
        '3',
        'aud is the resource that was asked for',
        async () => expect(await audienceOf(RESOURCE, undefined)).toBe(RESOURCE),
      ],
      [
        '4',
        'the keys are found by kid',
        async () => {
          const keys = (await (await fetch(String(metadata.jwks_uri))).json()) as JSONWebKeySet;
          expect(keys.keys.map(({ kid }) => kid)).toContain(decodeProtectedHeader(tokens.access_token).kid);
          for (const key of keys.keys) expect(key).not.toHaveProperty('d');
        },
      ],
      [
        '5',
        'a subject is of this issuer: the id at the provider is not in it',
        () => expect(String(claims().sub)).not.toContain('person'),
      ],
    ],
  ],
  [
    'RFC 9207, the issuer in answers',
    [
      ['2', 'a code comes with iss', async () => expect((await sentBack({})).get('iss')).toBe(issuer.issuer)],
      [
        '2',
        'an error comes with iss',
        async () => expect((await sentBack({ response_type: 'token' })).get('iss')).toBe(issuer.issuer),
      ],
      [
        '2',
        'a refusal of the person comes with iss',
        async () => {
          const { url } = await newPerson({ decision: 'deny' }).visit(authorizeUrl(issuer, client, newPkce()));
          expect([url.searchParams.get('error'), url.searchParams.get('iss')]).toEqual([
            'access_denied',
            issuer.issuer,
          ]);
        },
      ],
      [
        '2.3',
        'the metadata says so, with the same issuer',
        () =>
          expect(metadata).toMatchObject({
            authorization_response_iss_parameter_supported: true,
            issuer: issuer.issuer,
          }),
      ],
    ],
  ],
])('%s', (_rfc, rows) => {
  it.each(rows)('section %s: %s', async (_section, _requirement, check) => {
    await check();
  });
});
