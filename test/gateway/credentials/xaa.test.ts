// Tests cross-application access over HTTP. In one file, because the tests share an identity provider that verifies
// id_tokens, and an authorization server that verifies assertions.

import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Credentialed } from '#gateway/credentials/credential.ts';
import { crossApplicationAccess } from '#gateway/credentials/exchange/xaa.ts';
import { type Endpoint, type Respond, sendJson, startEndpoint } from './endpoint.ts';
import { ANONYMOUS, outgoing, START_MS, startWorld, type World } from './world.ts';

const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const AUDIENCE = 'https://auth.notes.example.com';
const RESOURCE = 'https://notes.example.com/mcp';
const SECRETS = { IDP: 'p%ss:w+rd & more', TARGET: 'another: secret' };

type Block = Parameters<typeof crossApplicationAccess>[1];
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let world: World;
let idp: Endpoint;
let target: Endpoint;

beforeAll(async () => {
  keys = await generateKeyPair('ES256');
});
beforeEach(async () => {
  world = startWorld(SECRETS);
  [idp, target] = await Promise.all([startEndpoint(giveAssertion()), startEndpoint(giveToken)]);
});
afterEach(async () => {
  await Promise.all([idp.close(), target.close()]);
  await world.close();
});

function signed(claims: Record<string, unknown>, typ = 'JWT'): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ })
    .setExpirationTime(START_MS / 1000 + 600)
    .sign(keys.privateKey);
}

const verified = (token: string | null) => jwtVerify(token ?? '', keys.publicKey, { currentDate: new Date(START_MS) });

/** `more` overrides fields of the response. `claims` overrides claims of the assertion. */
function giveAssertion(more: object = {}, claims: object = {}): Respond {
  return async ({ form }, response) => {
    const { payload } = await verified(form.get('subject_token'));
    const access_token = await signed(
      {
        iss: 'idp',
        sub: payload.sub,
        aud: form.get('audience'),
        resource: form.get('resource') ?? undefined,
        ...claims,
      },
      'oauth-id-jag+jwt',
    );
    sendJson(response, 200, { access_token, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300, ...more });
  };
}

const giveToken: Respond = async ({ form }, response) => {
  const { payload } = await verified(form.get('assertion'));
  sendJson(response, 200, { access_token: `token-of-${payload.sub}`, token_type: 'Bearer', expires_in: 300 });
};

function block(more: Partial<Block> = {}): Block {
  return {
    idp_token_url: `${idp.url}/token`,
    idp_client_id: 'skep: one',
    idp_client_secret_env_var: 'IDP',
    target_token_url: `${target.url}/token`,
    target_client_id: 'skep-there',
    target_client_secret_env_var: 'TARGET',
    target_audience: AUDIENCE,
    target_resource: RESOURCE,
    scopes: ['notes.read', 'notes.write'],
    ...more,
  };
}

const callerOf = async (sub: string) => ({
  key: `issuer ${sub} client`,
  token: await signed({ sub }),
  claims: { sub },
});

async function applied(more: Partial<Block> = {}, sub = 'ada'): Promise<Credentialed> {
  const credential = crossApplicationAccess(world.ports, block(more), '/xaa_config');
  return credential(outgoing({ authorization: 'Bearer of the caller' }), await callerOf(sub));
}

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from([id, secret].map((each) => new URLSearchParams([['', each]]).toString().slice(1)).join(':')).toString('base64')}`;

describe('the id_token of a login', () => {
  it('is exchanged for an assertion, and the assertion for a token of the target server', async () => {
    const given = await applied();
    expect(given).toMatchObject({ ok: true, headers: { authorization: 'Bearer token-of-ada' } });
    const [first] = idp.asked;
    expect(Object.fromEntries(first?.form ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: ID_JAG,
      subject_token: expect.stringMatching(/^ey/),
      subject_token_type: ID_TOKEN,
      audience: AUDIENCE,
      resource: RESOURCE,
      scope: 'notes.read notes.write',
    });
    expect(first?.headers.authorization).toBe(basic('skep: one', SECRETS.IDP));
    const [second] = target.asked;
    expect([...(second?.form.keys() ?? [])].toSorted()).toEqual(['assertion', 'grant_type', 'scope']);
    expect(second?.form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    expect(second?.form.get('scope')).toBe('notes.read notes.write');
    expect(second?.headers.authorization).toBe(basic('skep-there', SECRETS.TARGET));
  });

  it('is exchanged once for a caller until the token expires, and again for another caller', async () => {
    const credential = crossApplicationAccess(world.ports, block(), '/xaa_config');
    const ada = await callerOf('ada');
    for (let call = 0; call < 3; call += 1) await credential(outgoing(), ada);
    expect([idp.asked.length, target.asked.length]).toEqual([1, 1]);
    expect(await credential(outgoing(), await callerOf('bob'))).toMatchObject({
      headers: { authorization: 'Bearer token-of-bob' },
    });
    expect(target.asked.length).toBe(2);
    world.advance(300_000);
    await credential(outgoing(), ada);
    expect([idp.asked.length, target.asked.length]).toEqual([3, 3]);
  });

  it('is exchanged by public clients, without scopes and without a resource', async () => {
    const given = await applied({
      idp_client_secret_env_var: undefined,
      target_client_secret_env_var: undefined,
      scopes: undefined,
      target_resource: undefined,
    });
    expect(given.ok).toBe(true);
    const [first, second] = [idp.asked[0], target.asked[0]];
    expect([first?.form.get('client_id'), second?.form.get('client_id')]).toEqual(['skep: one', 'skep-there']);
    expect([first?.headers.authorization, second?.headers.authorization]).toEqual([undefined, undefined]);
    expect([first?.form.has('scope'), first?.form.has('resource'), second?.form.has('scope')]).toEqual(
      Array(3).fill(false),
    );
  });

  it('is required: for a caller without an id_token, no request is sent', async () => {
    const credential = crossApplicationAccess(world.ports, block(), '/xaa_config');
    expect(await credential(outgoing(), ANONYMOUS)).toMatchObject({ ok: false, refusal: { status: 401 } });
    expect(idp.asked).toEqual([]);
  });

  it('is exchanged with the current content of the secret files', async () => {
    const file = world.write('secret', 'first\n');
    const credential = crossApplicationAccess(world.ports, block({ target_client_secret_file: file }), '/xaa_config');
    await credential(outgoing(), await callerOf('ada'));
    world.write('secret', 'second');
    await credential(outgoing(), await callerOf('bob'));
    expect(target.asked.map(({ headers }) => headers.authorization)).toEqual([
      basic('skep-there', 'first'),
      basic('skep-there', 'second'),
    ]);
  });
});

describe('a response of the identity provider is refused', () => {
  it.each<{ reason: string; more?: object; claims?: object }>([
    { reason: 'of another type', more: { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' } },
    { reason: 'without a type', more: { issued_token_type: undefined } },
    { reason: 'that is a bearer token', more: { token_type: 'Bearer' } },
    { reason: 'without an assertion', more: { access_token: '' } },
    { reason: 'that is not a JWT', more: { access_token: 'opaque' } },
    { reason: 'for another server', claims: { aud: 'https://evil.example.com' } },
    { reason: 'for several servers', claims: { aud: [AUDIENCE, 'https://evil.example.com'] } },
    { reason: 'without an audience', claims: { aud: undefined } },
    { reason: 'for another resource', claims: { resource: 'https://evil.example.com' } },
    { reason: 'for no resource', claims: { resource: undefined } },
  ])('$reason', async ({ more, claims }) => {
    idp.respond(giveAssertion(more, claims));
    expect(await applied()).toMatchObject({ ok: false, refusal: { status: 502, code: 'exchange-answer-invalid' } });
    expect(target.asked).toEqual([]);
  });

  it('except an audience in a list of one item', async () => {
    idp.respond(giveAssertion({}, { aud: [AUDIENCE], resource: ['x', RESOURCE] }));
    expect((await applied()).ok).toBe(true);
  });
});

describe('a refusal', () => {
  const refuse =
    (status: number, body: object): Respond =>
    (_asked, response) =>
      sendJson(response, status, body);

  it.each<{ reason: string; at: 'idp' | 'target'; respond: Respond; status: number; code: string }>([
    {
      reason: 'of the id_token requires another login',
      at: 'idp',
      respond: refuse(400, { error: 'invalid_grant' }),
      status: 401,
      code: 'exchange-token-refused',
    },
    {
      reason: 'of the assertion does not: another login would change nothing',
      at: 'target',
      respond: refuse(400, { error: 'invalid_grant' }),
      status: 403,
      code: 'exchange-denied',
    },
    {
      reason: 'of the client is one of the operator',
      at: 'target',
      respond: refuse(401, { error: 'invalid_client' }),
      status: 502,
      code: 'exchange-misconfigured',
    },
    {
      reason: 'by policy',
      at: 'idp',
      respond: refuse(403, { error: 'access_denied' }),
      status: 403,
      code: 'exchange-denied',
    },
    { reason: 'of a busy server', at: 'idp', respond: refuse(503, {}), status: 503, code: 'exchange-unavailable' },
    {
      reason: 'without a token',
      at: 'target',
      respond: refuse(200, { token_type: 'Bearer' }),
      status: 502,
      code: 'exchange-answer-invalid',
    },
    {
      reason: 'with a token of another kind',
      at: 'target',
      respond: refuse(200, { access_token: 'x', token_type: 'DPoP' }),
      status: 502,
      code: 'exchange-answer-invalid',
    },
  ])('$reason', async ({ at, respond, status, code }) => {
    (at === 'idp' ? idp : target).respond(respond);
    expect(await applied()).toMatchObject({ ok: false, refusal: { status, code } });
  });

  it('contains no token and no secret, even if the server repeats them', async () => {
    target.respond(({ form, headers }, response) =>
      sendJson(response, 400, {
        error: 'invalid_client',
        error_description: `${SECRETS.TARGET} ${headers.authorization} ${form.get('assertion')?.slice(0, 40)}`,
      }),
    );
    const given = await applied();
    const text = JSON.stringify(given);
    expect(text).toContain('invalid_client');
    expect(text).not.toContain(target.asked[0]?.form.get('assertion')?.slice(0, 40));
    expect(text).not.toContain(SECRETS.TARGET);
    expect(text).not.toContain(basic('skep-there', SECRETS.TARGET).slice(6));
  });

  it.each(['idp', 'target'] as const)(
    'comes at once while the %s is unreachable, and ends after its return',
    async (place) => {
      const away = place === 'idp' ? idp : target;
      await away.stop();
      expect(await applied()).toMatchObject({ ok: false, refusal: { status: 503, code: 'exchange-unavailable' } });
      await away.resume();
      expect((await applied()).ok).toBe(true);
    },
  );
});

describe('settings', () => {
  it.each<{ reason: string; more: Partial<Block> }>([
    { reason: 'a provider over http', more: { idp_token_url: 'http://login.example.com/token' } },
    {
      reason: 'a provider over http, whatever counts for the target',
      more: { idp_token_url: 'http://login.example.com/token', insecure_target_token_url: true },
    },
    { reason: 'a target over http', more: { target_token_url: 'http://auth.example.com/token' } },
    { reason: 'a target with a password', more: { target_token_url: 'https://a:b@auth.example.com/token' } },
    { reason: 'a secret that is missing', more: { idp_client_secret_env_var: 'NONE' } },
  ])('$reason prevents the start', ({ more }) => {
    expect(() => crossApplicationAccess(world.ports, block(more), '/xaa_config')).toThrow(/\/xaa_config/);
  });

  it('a target URL with http is accepted if the settings allow it', () => {
    const more = { target_token_url: 'http://auth.notes.svc/token', insecure_target_token_url: true };
    expect(crossApplicationAccess(world.ports, block(more), '/xaa_config')).toBeTypeOf('function');
  });
});
