// Tests failures of logins and the messages to people, clients and operators: broken providers, tokens that a provider
// does not refresh, and another issuer than the issuer of the host.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stopAll } from '../proxy/rig.ts';
import { newPerson } from './person.ts';
import { authorizeUrl, callMcp, type LoginWorld, logIn, newClient, newPkce, openLoginWorld } from './world.ts';

let world: LoginWorld;
beforeAll(async () => {
  world = await openLoginWorld();
});
afterEach(() => {
  world.provider.fault = undefined;
});
afterAll(async () => {
  await stopAll();
  await world.provider.close();
});

type Fault = (response: ServerResponse, request: IncomingMessage) => void;

function answering(path: string, fault: Fault): void {
  world.provider.fault = (asked, request, response) => {
    if (asked !== path) return false;
    fault(response, request);
    return true;
  };
}

const sendJson =
  (status: number, value: object): Fault =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

describe('a provider', () => {
  it.each<{ reason: string; fault: Fault; error: string; code: string }>([
    {
      reason: 'that closes the connection',
      fault: (response) => void response.destroy(),
      error: 'temporarily_unavailable',
      code: 'issuer-upstream-unavailable',
    },
    {
      reason: 'that is broken',
      fault: sendJson(503, {}),
      error: 'temporarily_unavailable',
      code: 'issuer-upstream-unavailable',
    },
    {
      reason: 'that refuses the code',
      fault: sendJson(400, { error: 'invalid_grant' }),
      error: 'access_denied',
      code: 'issuer-upstream-refused',
    },
    {
      reason: 'that refuses with 200',
      fault: sendJson(200, { error: 'bad_verification_code' }),
      error: 'access_denied',
      code: 'issuer-upstream-refused',
    },
    {
      reason: 'that answers in HTML',
      fault: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Error</h1>'),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
    {
      reason: 'that returns no id_token',
      fault: sendJson(200, { access_token: 'a', token_type: 'Bearer' }),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
    {
      reason: 'that returns an id_token of another person',
      fault: sendJson(200, {
        access_token: 'a',
        token_type: 'Bearer',
        id_token: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0.',
      }),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
    {
      reason: 'that returns another kind of token',
      fault: sendJson(200, { access_token: 'a', token_type: 'mac', id_token: 'x' }),
      error: 'server_error',
      code: 'issuer-upstream-invalid',
    },
  ])('$reason ends the login with $error at the client, and the log contains $code', async ({ fault, error, code }) => {
    answering('/token', fault);
    const client = await newClient(world);
    const { url } = await newPerson().visit(authorizeUrl(world, client, newPkce()));
    expect(url.searchParams.get('error')).toBe(error);
    expect(url.searchParams.get('state')).toBe('state of the client');
    expect(url.searchParams.get('code')).toBeNull();
    expect(world.proxy.log.text()).toContain(code);
  });

  it('that cannot be discovered ends the login before the redirect, and the next login tries again', async () => {
    const fresh = await openLoginWorld();
    fresh.provider.fault = (path, _request, response) => {
      if (path !== '/.well-known/openid-configuration') return false;
      response.writeHead(500).end();
      return true;
    };
    const client = await newClient(fresh);
    const { url } = await newPerson().visit(authorizeUrl(fresh, client, newPkce()));
    expect(url.searchParams.get('error')).toBe('temporarily_unavailable');
    fresh.provider.fault = undefined;
    await logIn(fresh, { client });
    await fresh.provider.close();
  });

  it('at which the person cancels ends the login with access_denied', async () => {
    world.provider.fault = (path, request, response) => {
      if (path !== '/auth') return false;
      const state = new URL(request.url ?? '', world.provider.url).searchParams.get('state') ?? '';
      const back = `${world.issuer}/oauth/callback?${new URLSearchParams({ error: 'access_denied', state, iss: world.provider.url })}`;
      response.writeHead(303, { location: back }).end();
      return true;
    };
    const { url } = await newPerson().visit(authorizeUrl(world, await newClient(world), newPkce()));
    expect(url.searchParams.get('error')).toBe('access_denied');
  });
});

describe("the person's token at the provider", () => {
  it('is refreshed once for many waiting calls', async () => {
    const short = await openLoginWorld({ accessSeconds: 2 });
    const { tokens } = await logIn(short);
    short.provider.accessSeconds = 3600;
    const asked = short.provider.requests.get('/token') ?? 0;
    const answers = await Promise.all(Array.from({ length: 12 }, () => callMcp(short, tokens.access_token)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((short.provider.requests.get('/token') ?? 0) - asked).toBe(1);
    await short.provider.close();
  });

  it('that the provider no longer refreshes ends the session, and the client must log in', async () => {
    const short = await openLoginWorld({ accessSeconds: 2 });
    const { tokens } = await logIn(short);
    short.provider.fault = (path, _request, response) => {
      if (path !== '/token') return false;
      sendJson(400, { error: 'invalid_grant' })(response, _request);
      return true;
    };
    const answered = await callMcp(short, tokens.access_token);
    expect(answered.status).toBe(401);
    expect(answered.headers.get('www-authenticate')).toContain('resource_metadata=');
    expect(short.proxy.log.text()).toContain('session-ended');
    expect(short.proxy.log.text()).toContain('issuer-session-ended');
    await short.provider.close();
  });
});

describe('the start fails if', () => {
  it('the host accepts tokens of another issuer', async () => {
    await expect(
      openLoginWorld({ auth: { issuer: 'https://other.example.com' }, provider: world.provider }),
    ).rejects.toThrow('the two must be equal');
  });
});

describe('a warning in the log', () => {
  it('appears if the server generates its keys, or stores logins in memory', () => {
    expect(world.proxy.log.text()).toContain('issuer-keys-ephemeral');
    expect(world.proxy.log.text()).toContain('issuer-storage-memory');
  });
});
