// Tests the conditions about settings that a resource names, for each problem of these settings.

import { expect, it } from 'vitest';
import type { Finding } from './kind.ts';
import { settingsConditions } from './shared-settings.ts';

const POINTER = '/spec/externalAuthConfigRef';

function finding(code: string, pointer = POINTER): Finding {
  return { code, severity: 'error', pointer, message: `because of ${code}` };
}

it.each([
  { about: 'nothing', refusals: [], reason: 'ExternalAuthConfigValid' },
  {
    about: 'another field',
    refusals: [finding('oidc-issuer-invalid', '/spec/oidcConfig')],
    reason: 'ExternalAuthConfigValid',
  },
  {
    about: 'a name that leads nowhere',
    refusals: [finding('reference-missing')],
    reason: 'ExternalAuthConfigNotFound',
  },
  {
    about: 'a kind that could not be listed',
    refusals: [finding('reference-unknown')],
    reason: 'ExternalAuthConfigFetchError',
  },
  {
    about: 'several upstream providers',
    refusals: [finding('auth-server-upstreams')],
    reason: 'MultiUpstreamNotSupported',
  },
  {
    about: 'an issuer that nobody accepts',
    refusals: [finding('auth-server-issuer')],
    reason: 'ExternalAuthConfigInvalid',
  },
  {
    about: 'settings that are refused',
    refusals: [finding('needs-refused', `${POINTER}/name`)],
    reason: 'ExternalAuthConfigInvalid',
  },
])('$about: $reason', ({ refusals, reason }) => {
  const conditions = settingsConditions({ externalAuthConfigRef: { name: 'access' } }, refusals);
  const status = reason === 'ExternalAuthConfigValid' ? 'True' : 'False';
  expect(conditions).toMatchObject([{ type: 'ExternalAuthConfigValidated', status, reason }]);
});

it('reports nothing if the resource names no settings', () => {
  expect(settingsConditions({}, [finding('reference-missing')])).toEqual([]);
});

it.each([
  { about: 'nothing', refusals: [], reason: 'OIDCConfigRefValid' },
  {
    about: 'settings in the resource itself',
    refusals: [finding('oidc-issuer-invalid', '/spec/oidcConfig/inline/issuer')],
    reason: 'OIDCConfigRefValid',
  },
  {
    about: 'a name that leads nowhere',
    refusals: [finding('reference-missing', '/spec/oidcConfigRef/name')],
    reason: 'OIDCConfigRefNotFound',
  },
  {
    about: 'a kind that could not be listed',
    refusals: [finding('reference-unknown', '/spec/oidcConfigRef/name')],
    reason: 'OIDCConfigRefError',
  },
  {
    about: 'settings that are refused',
    refusals: [finding('needs-refused', '/spec/oidcConfigRef/name')],
    reason: 'OIDCConfigRefNotValid',
  },
])('of an MCPOIDCConfig, $about: $reason', ({ refusals, reason }) => {
  const conditions = settingsConditions({ oidcConfigRef: { name: 'login' } }, refusals);
  expect(conditions).toMatchObject([{ type: 'OIDCConfigRefValidated', reason }]);
});
