// Tests pages whose base URL differs from the issuer (authorization_endpoint_base_url).

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOf, type DirectIssuer, oauth2To, oidcTo, openDirect } from './direct.ts';
import { newPerson, pendingOf } from './person.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { authorizeUrl, newClient, newPkce, redeem, tokensOf } from './world.ts';

let provider: RecordingProvider;
beforeAll(async () => {
  provider = await startRecordingProvider();
});
afterAll(() => provider.close());

/** Returns the URL of the same listener with another host name, which has separate cookies. */
const pagesOf = (origin: string) => origin.replace('127.0.0.1', 'localhost');

async function withPages<T>(
  path: string,
  use: (issuer: DirectIssuer, base: string) => Promise<T>,
  providersOf = (origin: string) => [oidcTo(origin, provider)],
): Promise<T> {
  const issuer = await openDirect({
    config: (origin) => ({
      ...configOf(origin, providersOf(origin)),
      authorization_endpoint_base_url: `${pagesOf(origin)}${path}`,
    }),
  });
  try {
    return await use(issuer, `${pagesOf(issuer.origin)}${path}`);
  } finally {
    await issuer.close();
  }
}

async function metadataOf({ issuer }: DirectIssuer): Promise<Record<string, unknown>> {
  return JSON.parse(await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).text());
}

describe('a base for pages', () => {
  it.each(['', '/people'])(
    'with the path "%s" changes only the authorization endpoint in the metadata',
    async (path) => {
      await withPages(path, async (issuer, base) => {
        const own = issuer.issuer;
        expect(await metadataOf(issuer)).toMatchObject({
          issuer: own,
          authorization_endpoint: `${base}/oauth/authorize`,
          token_endpoint: `${own}/oauth/token`,
          registration_endpoint: `${own}/oauth/register`,
          revocation_endpoint: `${own}/oauth/revoke`,
          jwks_uri: `${own}/.well-known/jwks.json`,
        });
      });
    },
  );

  it.each(['', '/people'])('with the path "%s" serves a whole login in a browser', async (path) => {
    await withPages(path, async (issuer, base) => {
      const [client, pkce, person] = [await newClient(issuer), newPkce(), newPerson()];
      const { url, trail } = await person.visit(authorizeUrl({ issuer: base }, client, pkce));
      expect(url.searchParams.get('iss')).toBe(issuer.issuer);
      expect(trail).toContain(`${base}/oauth/consent`);
      // The provider redirects to the issuer's host, but the cookie belongs to the host of the pages.
      expect(trail.some((each) => each.startsWith(`${base}/oauth/callback?`))).toBe(true);
      expect(person.cookies.get(new URL(issuer.issuer).host)?.size ?? 0).toBe(0);
      const tokens = tokensOf(await redeem(issuer, client, url.searchParams.get('code') ?? String(url), pkce));
      expect(tokens.access_token).not.toBe('');
      const apps = await person.visit(`${base}/oauth/apps`);
      expect(apps.text).toContain(`action="${path}/oauth/apps"`);
      expect(apps.text).toContain('Weather app');
    });
  });

  it('works for browsers with an old cookie of the issuer host', async () => {
    await withPages('', async (issuer, base) => {
      const [client, pkce, other] = [await newClient(issuer), newPkce(), newPerson()];
      await other.visit(authorizeUrl({ issuer: base }, client, pkce));
      const former = new Map([[new URL(issuer.issuer).host, other.cookies.get(new URL(base).host) ?? new Map()]]);
      const { url } = await newPerson({ cookies: former }).visit(authorizeUrl({ issuer: base }, client, pkce));
      expect(url.searchParams.get('iss'), String(url)).toBe(issuer.issuer);
    });
  });

  it.each(['', '/people'])(
    'with the path "%s" works for clients that use the endpoint below the issuer',
    async (path) => {
      await withPages(path, async (issuer, base) => {
        const [client, pkce, person] = [await newClient(issuer), newPkce(), newPerson()];
        const { url, trail } = await person.visit(authorizeUrl(issuer, client, pkce));
        expect(url.searchParams.get('iss'), String(url)).toBe(issuer.issuer);
        expect(trail).toContain(`${base}/oauth/consent`);
      });
    },
  );

  it('refuses a response at the callback of another provider', async () => {
    const two = (origin: string) => [
      oidcTo(origin, provider, { redirect_uri: `${origin}/oauth/callback/login` }),
      oauth2To(origin, provider, { redirect_uri: `${origin}/oauth/callback/code-host` }),
    ];
    await withPages(
      '',
      async (issuer, base) => {
        const [client, asked] = [await newClient(issuer), provider.count('/token')];
        const page = await fetch(authorizeUrl({ issuer: base }, client, newPkce()));
        const headers = {
          cookie: page.headers
            .getSetCookie()
            .map((each) => each.split(';', 1)[0])
            .join('; '),
        };
        const body = new URLSearchParams({ pending: pendingOf(await page.text()), decision: 'allow' });
        const consent = await fetch(`${base}/oauth/consent`, { method: 'POST', headers, body });
        const state = /[?&;]state=([^&"]*)/.exec(await consent.text())?.[1] ?? '';
        expect(state).not.toBe('');
        const answer = `${issuer.issuer}/oauth/callback/code-host?code=of-another&state=${state}`;
        const forwarded = await fetch(answer, { redirect: 'manual' });
        const place = forwarded.headers.get('location') ?? '';
        expect(place).toContain(`${base}/oauth/callback`);
        expect((await fetch(place, { headers, redirect: 'manual' })).status).toBe(400);
        expect(provider.count('/token')).toBe(asked);
      },
      two,
    );
  });

  it('refuses forms from another origin, including the origin of the issuer', async () => {
    await withPages('', async (issuer, base) => {
      const page = await newPerson({ decision: 'look' }).visit(
        authorizeUrl({ issuer: base }, await newClient(issuer), newPkce()),
      );
      const pending = /name="pending" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
      const cookie = page.headers.getSetCookie().map((each) => each.split(';', 1)[0]);
      for (const origin of [issuer.issuer, 'https://evil.example.com']) {
        const answer = await fetch(`${base}/oauth/consent`, {
          method: 'POST',
          headers: {
            origin,
            cookie: cookie.join('; '),
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams({ pending, decision: 'allow' }),
        });
        expect(answer.status).toBe(400);
      }
    });
  });

  it.each([
    ['http://login.example.com', 'plain http outside of loopback'],
    ['https://login.example.com/', 'a slash at its end'],
    ['https://login.example.com?a=b', 'a query'],
    ['ftp://login.example.com', 'another scheme'],
  ])('%s prevents the start: %s', async (base) => {
    const opened = openDirect({
      config: (origin) => ({
        ...configOf(origin, [oidcTo(origin, provider)]),
        authorization_endpoint_base_url: base,
      }),
    });
    await expect(opened).rejects.toMatchObject({ code: 'issuer-config-invalid' });
  });
});
