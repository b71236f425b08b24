// Serves the token endpoint (RFC 6749 section 3.2). Issues tokens for codes, refresh tokens and assertions, and
// exchanges tokens.

import { sha256 } from '#std/hash.ts';
import { signAccessToken, type TokenFacts, tokenSeconds } from './access-token.ts';
import { authenticateClient } from './clients/authentication.ts';
import type { OAuthClient } from './clients/clients.ts';
import { TOKEN_EXCHANGE } from './grants/delegates.ts';
import { exchangeToken } from './grants/exchange.ts';
import { JWT_BEARER, redeemAssertion } from './grants/jwt-bearer.ts';
import { provesChallenge } from './keys/pkce.ts';
import {
  errorAnswer,
  type IssuerAnswer,
  type IssuerRequest,
  jsonAnswer,
  type OAuthError,
  readForm,
} from './message.ts';
import {
  type CodeRecord,
  findConsent,
  type GrantRecord,
  KEYS,
  readRecord,
  USED_CODE_MS,
  writeRecord,
} from './records.ts';
import { narrowedAudience, narrowedScopes } from './resources.ts';
import { endSession, keepSession } from './sessions.ts';
import { type IssuerWorld, noteRefusal } from './world.ts';

interface Granted {
  readonly facts: TokenFacts;
  /** New refresh token. undefined if the client does not use refresh tokens. */
  readonly refreshToken?: string;
  /** Type of the issued token, for the answer to a token exchange (RFC 8693 section 2.2.1). */
  readonly issuedType?: string;
}

export async function giveTokens(world: IssuerWorld, request: IssuerRequest): Promise<IssuerAnswer> {
  const form = readForm(request);
  const granted = form === undefined ? FORM_INVALID : await grantOf(world, request, form);
  if ('error' in granted) {
    noteRefusal(world, granted.error, granted.description);
    return errorAnswer(granted);
  }
  const { facts, refreshToken, issuedType } = granted;
  const seconds = tokenSeconds(world, facts);
  if (seconds < 1) return errorAnswer(invalidGrant('the token has expired'));
  return jsonAnswer(200, {
    access_token: await signAccessToken(world, facts),
    token_type: 'Bearer',
    expires_in: seconds,
    issued_token_type: issuedType,
    scope: facts.scopes.length === 0 ? undefined : facts.scopes.join(' '),
    refresh_token: refreshToken,
  });
}

const FORM_INVALID: OAuthError = {
  error: 'invalid_request',
  description:
    'the body must be a form (application/x-www-form-urlencoded) of at most 50 parameters, none of them twice',
};

async function grantOf(
  world: IssuerWorld,
  request: IssuerRequest,
  form: URLSearchParams,
): Promise<Granted | OAuthError> {
  const grant = form.get('grant_type');
  if (grant === JWT_BEARER && world.settings.trusted.some(({ bearer }) => bearer !== undefined))
    return noted(world, await redeemAssertion(world, request, form), undefined);
  const client = await authenticateClient(world, request, form);
  if ('error' in client) return client;
  switch (grant) {
    case 'authorization_code':
      return redeemCode(world, client, form);
    case 'refresh_token':
      return refreshTokens(world, client, form);
    case TOKEN_EXCHANGE:
      return noted(world, await exchangeToken(world, client, form), ACCESS_TOKEN_TYPE);
    default:
      return {
        error: 'unsupported_grant_type',
        description: 'grant_type must be one of grant_types_supported in the metadata of this server',
      };
  }
}

const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';

/**
 * Logs the recipient of a token that was issued for an exchange or assertion, because the subject did not log in for
 * this token.
 */
function noted(world: IssuerWorld, facts: TokenFacts | OAuthError, issuedType: string | undefined) {
  if ('error' in facts) return facts;
  const { client, person, audience } = facts;
  world.ports.notify({
    code: 'issuer-token-exchanged',
    level: 'info',
    message: `a token for ${person.subject} was given to ${client}`,
    data: { client, subject: person.subject, audience: [...audience] },
  });
  return { facts, issuedType };
}

const CODE_UNKNOWN = invalidGrant('the code is unknown, has expired, was used, or belongs to another client');

async function redeemCode(
  world: IssuerWorld,
  client: OAuthClient,
  form: URLSearchParams,
): Promise<Granted | OAuthError> {
  const { store } = world.ports;
  const opened = world.secrets.open('authorization code', form.get('code') ?? '');
  const known = opened === undefined ? undefined : await readRecord<CodeRecord>(store, KEYS.code(opened.id));
  if (opened === undefined || known === undefined || known.record.authorization.client !== client.id)
    return CODE_UNKNOWN;
  const { authorization, session, person, used } = known.record;
  // The first use may have been a theft, so the session's tokens are revoked (RFC 6749 section 4.1.2).
  if (used) return endReused(world, session, CODE_UNKNOWN);
  if (!provesChallenge(form.get('code_verifier') ?? '', authorization.challenge)) {
    return invalidGrant('code_verifier does not fit the code_challenge of the login (RFC 7636)');
  }
  const redirectUri = form.get('redirect_uri') ?? undefined;
  const expected = authorization.redirectNamed || redirectUri !== undefined ? authorization.redirectUri : undefined;
  if (redirectUri !== expected) return invalidGrant('redirect_uri differs from the redirect_uri of the login');
  const audience = narrowedAudience(world.settings, authorization.audience, form.getAll('resource'));
  if ('error' in audience) return audience;
  const spent = JSON.stringify({ ...known.record, used: true } satisfies CodeRecord);
  if (!(await store.replace(KEYS.code(opened.id), known.text, spent, USED_CODE_MS))) {
    return endReused(world, session, CODE_UNKNOWN);
  }
  await world.clients.keep(client.id);
  const facts = { client: client.id, session, person, scopes: authorization.scopes, audience };
  if (!client.grantTypes.includes('refresh_token')) return { facts, refreshToken: undefined };
  const grant: GrantRecord = {
    client: client.id,
    person,
    scopes: authorization.scopes,
    audience: authorization.audience,
    used: 0,
  };
  await writeRecord(store, KEYS.grant(session), grant, world.settings.refreshMs);
  return { facts, refreshToken: world.secrets.mint('refresh token', { id: session, generation: 1 }) };
}

const REFRESH_UNKNOWN = invalidGrant(
  'the refresh token is unknown, has expired, was revoked or used, or belongs to another client',
);
/**
 * Maximum number of attempts to write the record. A client may send two concurrent requests, but more are probably an
 * attack.
 */
const RACES_MAX = 5;

/**
 * Rotates refresh tokens (RFC 9700 section 4.14.2). The last used token stays valid until its successor is used, so a
 * lost answer does no harm. Any other used token ends the session.
 */
async function refreshTokens(
  world: IssuerWorld,
  client: OAuthClient,
  form: URLSearchParams,
): Promise<Granted | OAuthError> {
  const token = form.get('refresh_token') ?? '';
  const opened = world.secrets.open('refresh token', token);
  if (opened === undefined) return REFRESH_UNKNOWN;
  const { id: session, generation } = opened;
  const { store } = world.ports;
  for (let race = 0; race < RACES_MAX; race += 1) {
    const known = await readRecord<GrantRecord>(store, KEYS.grant(session));
    if (known === undefined || known.record.client !== client.id) return REFRESH_UNKNOWN;
    const { record: grant, text } = known;
    const mark = sha256(token);
    const isAgain = generation === grant.used && mark === grant.usedToken;
    if (!isAgain && generation !== grant.used + 1) return endReused(world, session, REFRESH_UNKNOWN);
    const asked = refreshFacts(world, session, grant, form);
    if ('error' in asked) return asked;
    if (
      (await findConsent(store, grant.person.subject, client.id)) === undefined ||
      !(await keepSession(world, session))
    ) {
      return endReused(world, session, REFRESH_UNKNOWN);
    }
    const next = JSON.stringify({ ...grant, used: generation, usedToken: mark } satisfies GrantRecord);
    if (!(await store.replace(KEYS.grant(session), text, next, world.settings.refreshMs))) continue;
    await world.clients.keep(client.id);
    return {
      facts: asked,
      refreshToken: world.secrets.mint('refresh token', { id: session, generation: generation + 1 }),
    };
  }
  return { error: 'temporarily_unavailable', description: 'other requests are refreshing the token; try again' };
}

function refreshFacts(
  { settings }: IssuerWorld,
  session: string,
  { client, person, scopes: granted, audience: allowed }: GrantRecord,
  form: URLSearchParams,
): TokenFacts | OAuthError {
  const scopes = narrowedScopes(settings, granted, form.get('scope'));
  if ('error' in scopes) return scopes;
  const audience = narrowedAudience(settings, allowed, form.getAll('resource'));
  return 'error' in audience ? audience : { client, session, person, scopes, audience };
}

async function endReused(world: IssuerWorld, session: string, refusal: OAuthError): Promise<OAuthError> {
  await endSession(world, session, 'a code or refresh token was used again, or its session no longer exists');
  return refusal;
}

function invalidGrant(description: string): OAuthError {
  return { error: 'invalid_grant', description };
}
