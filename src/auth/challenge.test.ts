import { expect, test } from 'vitest';
import { challenge } from './challenge.ts';
import { metadataUrl, resourceMetadata } from './metadata.ts';
import { publicRejection } from './rejection.ts';

test.each([
  {
    reason: 'without credentials there is no error (RFC 6750 section 3)',
    rejection: { reason: 'credentials-missing' } as const,
    expected: 'Bearer realm="mcp-registry", resource_metadata="https://r.example/.well-known/oauth-protected-resource"',
  },
  {
    reason: 'a malformed header is an invalid request',
    rejection: { reason: 'authorization-malformed' } as const,
    expected:
      'Bearer realm="mcp-registry", error="invalid_request", error_description="missing or malformed authorization header", resource_metadata="https://r.example/.well-known/oauth-protected-resource"',
  },
  {
    reason: 'a refused token is an invalid token, whatever is wrong with it',
    rejection: { reason: 'token-refused', attempts: [] } as const,
    expected:
      'Bearer realm="mcp-registry", error="invalid_token", error_description="token validation failed", resource_metadata="https://r.example/.well-known/oauth-protected-resource"',
  },
])('$reason', ({ rejection, expected }) => {
  const settings = { realm: 'mcp-registry', resourceUrl: 'https://r.example' };
  expect(challenge(settings, publicRejection(rejection))).toBe(expected);
});

test('quotes a realm with characters that would end the parameter or the header', () => {
  const settings = { realm: 'a"b\\c\r\nSet-Cookie: dé', resourceUrl: 'https://r.example' };
  expect(challenge(settings, { message: '' })).toMatch(/^Bearer realm="a\\"b\\\\cSet-Cookie: d", /);
});

test.each([
  { resource: 'https://r.example', expected: 'https://r.example/.well-known/oauth-protected-resource' },
  { resource: 'https://r.example/', expected: 'https://r.example/.well-known/oauth-protected-resource' },
  {
    resource: 'https://r.example:8443/a/b',
    expected: 'https://r.example:8443/.well-known/oauth-protected-resource/a/b',
  },
  { resource: 'https://r.example/a/', expected: 'https://r.example/.well-known/oauth-protected-resource/a/' },
  { resource: 'https://r.example/a?b=c', expected: 'https://r.example/.well-known/oauth-protected-resource/a?b=c' },
])('returns the metadata URL $expected of $resource', ({ resource, expected }) => {
  expect(metadataUrl(resource)).toBe(expected);
});

test('the metadata names each issuer once, and no documentation that is not configured', () => {
  const provider = { name: 'p', issuerUrl: 'https://i.example', audience: 'a', allowPrivateIP: false };
  const settings = {
    resourceUrl: 'https://r.example',
    realm: 'r',
    scopesSupported: ['read'],
    providers: [provider, { ...provider, audience: 'b' }],
  };
  const document = {
    resource: 'https://r.example',
    authorization_servers: ['https://i.example'],
    scopes_supported: ['read'],
    bearer_methods_supported: ['header'],
  };
  expect(resourceMetadata(settings)).toEqual(document);
  expect(resourceMetadata({ ...settings, resourceDocumentation: 'https://d.example' })).toEqual({
    ...document,
    resource_documentation: 'https://d.example',
  });
});
