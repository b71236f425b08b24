// Tests which calls a proxy accepts with tokens from an assertion or an exchange.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { type LoginProvider, startLoginProvider } from '../../harness/login-provider.ts';
import { stopAll } from '../proxy/rig.ts';
import { trustedBlock, WORKLOAD } from './trusted.ts';
import { type AuthServer, callMcp, type LoginWorld, logIn, openLoginWorld, post } from './world.ts';

const GRANTS = 'urn:ietf:params:oauth:grant-type:';
const SECRET = 'of the delegate';
const folder = mkdtempSync(join(tmpdir(), 'skep-trusted-'));
let other: Issuer;
let provider: LoginProvider;

beforeAll(async () => {
  writeFileSync(join(folder, 'secret'), SECRET);
  [other, provider] = await Promise.all([startIssuer(), startLoginProvider()]);
});
afterAll(async () => {
  await stopAll();
  await Promise.all([other.close(), provider.close()]);
});

function openWorld(auth: Partial<AuthServer> = {}, config: Partial<RunConfig> = {}): Promise<LoginWorld> {
  return openLoginWorld({
    provider,
    config,
    auth: (resource) => ({
      delegate_clients: [
        {
          client_id: 'reports',
          client_secret_file: join(folder, 'secret'),
          scopes: ['weather'],
          audiences: [resource],
        },
      ],
      trusted_issuers: [
        trustedBlock(other, {
          jwt_bearer_grant: {
            max_assertion_age: '5m',
            subject_bindings: [{ subject: WORKLOAD, allowed_resources: [resource] }],
          },
        }),
      ],
      ...auth,
    }),
  });
}

async function tokenOf({ issuer }: LoginWorld, form: Readonly<Record<string, string>>): Promise<string> {
  const { status, body } = await post(`${issuer}/oauth/token`, form);
  expect(status).toBe(200);
  return String(body.access_token);
}

async function robotToken(world: LoginWorld): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: other.url, sub: WORKLOAD, aud: `${world.issuer}/oauth/token`, iat: now, exp: now + 60 };
  const assertion = await other.sign({ ...claims, jti: crypto.randomUUID() });
  return tokenOf(world, { grant_type: `${GRANTS}jwt-bearer`, assertion, resource: world.resource });
}

function delegateToken(world: LoginWorld, token: string): Promise<string> {
  return tokenOf(world, {
    grant_type: `${GRANTS}token-exchange`,
    subject_token: token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    client_id: 'reports',
    client_secret: SECRET,
  });
}

/** Returns the Authorization headers of the calls that the MCP server received. */
function authorizations({ server }: LoginWorld): readonly (string | undefined)[] {
  return server.received
    .filter(({ message }) => message?.method === 'tools/call')
    .map(({ request }) => request.headers.authorization);
}

describe('a workload with an assertion', () => {
  it('can call with its issuer and name as its identity, if the MCP server gets no token of a person', async () => {
    const world = await openWorld({ disable_upstream_token_injection: true });
    expect((await callMcp(world, await robotToken(world))).status).toBe(200);
    expect(authorizations(world)).toEqual([undefined]);
  });

  it('is refused if the MCP server needs the token of a person, which the workload does not have', async () => {
    const world = await openWorld();
    const answer = await callMcp(world, await robotToken(world));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('invalid_token');
    expect(authorizations(world)).toEqual([]);
  });

  it('has no known groups in policies', async () => {
    const path = join(folder, 'authz.json');
    const policies = [
      'permit(principal, action == Action::"call_tool", resource);',
      'forbid(principal in THVGroup::"robots", action, resource);',
    ];
    writeFileSync(path, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
    const world = await openWorld({ disable_upstream_token_injection: true }, { authz_config_path: path });
    expect((await callMcp(world, await robotToken(world))).status).toBe(403);
  });
});

describe('a delegate client', () => {
  it('calls for a person, and the MCP server gets the token of the person', async () => {
    const world = await openWorld();
    const { tokens } = await logIn(world);
    expect((await callMcp(world, await delegateToken(world, tokens.access_token))).status).toBe(200);
    expect((await callMcp(world, tokens.access_token)).status).toBe(200);
    const [first, second] = authorizations(world);
    expect(first).toMatch(/^Bearer /);
    expect(first).toBe(second);
  });
});
