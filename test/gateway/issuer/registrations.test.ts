// What a client registers: the scopes that it gets.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, type DirectIssuer, oidcTo, openDirect } from './direct.ts';
import { newPerson } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { type AuthServer, authorizeUrl, newPkce, redeem, refresh, register, tokensOf } from './world.ts';

let provider: RecordingProvider;
beforeAll(async () => {
  provider = await startRecordingProvider();
});
afterAll(() => provider.close());

async function withIssuer<T>(more: Partial<AuthServer>, use: (issuer: DirectIssuer) => Promise<T>): Promise<T> {
  const issuer = await openDirect({ config: (at) => ({ ...configOf(at, [oidcTo(at, provider)]), ...more }) });
  try {
    return await use(issuer);
  } finally {
    await issuer.close();
  }
}

describe('scopes', () => {
  const scopes = { scopes_supported: ['openid', 'weather', 'storm'] };
  const limited = { ...scopes, baseline_client_scopes: ['openid'] };

  async function scopesOf(issuer: DirectIssuer, metadata: object, scope?: string) {
    const { body } = await register(issuer, metadata);
    const [client, pkce] = [String(body.client_id), newPkce()];
    const { url } = await newPerson().visit(authorizeUrl(issuer, client, pkce, { scope }));
    const tokens = tokensOf(await redeem(issuer, client, url.searchParams.get('code') ?? String(url), pkce));
    const again = await refresh(issuer, client, tokens.refresh_token ?? '', { scope: 'storm' });
    return { registered: body.scope, granted: tokens.scope, more: again.body.error };
  }

  it('are limited by the registration if there is a baseline, which each client gets', async () => {
    const asked = 'storm openid weather';
    const found = await withIssuer(limited, (issuer) => scopesOf(issuer, { scope: 'weather none' }, asked));
    expect(found).toEqual({ registered: 'openid weather', granted: 'openid weather', more: 'invalid_scope' });
  });

  it('are those of the registration if a request names none of them', async () => {
    const found = await withIssuer(limited, (issuer) => scopesOf(issuer, { scope: 'weather' }, 'storm'));
    expect(found.granted).toBe('openid weather');
  });

  it('are the baseline for a client that registers scopes that are not known', async () => {
    const found = await withIssuer(limited, (issuer) => scopesOf(issuer, { scope: 'none' }));
    expect(found.granted).toBe('openid');
  });

  it('are not limited for a client that registers without scopes, or without a baseline', async () => {
    const all = 'openid weather storm';
    const open = await withIssuer(limited, (issuer) => scopesOf(issuer, {}));
    expect(open).toMatchObject({ registered: all, granted: all });
    const free = await withIssuer(scopes, (issuer) => scopesOf(issuer, { scope: 'weather' }));
    expect(free).toMatchObject({ registered: undefined, granted: all });
  });

  it('of a baseline that the server does not give stop the start', async () => {
    const opened = withIssuer({ ...limited, baseline_client_scopes: ['mail'] }, async () => undefined);
    await expect(opened).rejects.toMatchObject({ code: 'issuer-config-invalid' });
  });
});
