// What the conditions about a named configuration say, by what was found wrong.

import { expect, it } from 'vitest';
import type { Finding } from '../kind.ts';
import { referenceVerdict } from './verdicts.ts';

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
  const verdicts = referenceVerdict('ExternalAuthConfig', { name: 'access' }, POINTER, refusals);
  const status = reason === 'ExternalAuthConfigValid' ? 'True' : 'False';
  expect(verdicts).toMatchObject([{ type: 'ExternalAuthConfigValidated', status, reason }]);
});

it('says nothing where no configuration is named', () => {
  expect(referenceVerdict('ExternalAuthConfig', undefined, POINTER, [finding('reference-missing')])).toEqual([]);
});
