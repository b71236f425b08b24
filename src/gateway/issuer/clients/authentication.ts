// Authenticates clients at the token and revocation endpoints (RFC 6749 section 3.2.1). Public clients send only their
// id. All other clients prove their identity with a secret (RFC 6749 section 2.3.1) or keys (RFC 7523 section 2.2).

import { checkJwt, claimedIssuer } from '#auth/jwt.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerRequest, OAuthError } from '../message.ts';
import { ASSERTION_SKEW_MS, type ClientSecret, KEYS, SECRET_METHODS } from '../records.ts';
import type { IssuerWorld } from '../world.ts';
import type { OAuthClient } from './clients.ts';
import { provesSecret, readBasic } from './secret.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Maximum lifetime of an assertion. An assertion that is valid for longer could be stored and stolen. */
const ASSERTION_MAX_S = 3600;

/** Returns the client of a request. An unknown client gets `invalid_client`, so that it registers again. */
export async function authenticateClient(
  world: IssuerWorld,
  request: IssuerRequest,
  form: URLSearchParams,
): Promise<OAuthClient | OAuthError> {
  const shown = shownSecret(request, form);
  if (shown !== undefined && 'error' in shown) return shown;
  const assertion = form.get('client_assertion');
  const id = shown?.id ?? form.get('client_id') ?? (assertion === null ? undefined : claimedIssuer(assertion));
  if (id === undefined || id === '') return { error: 'invalid_request', description: 'client_id is missing' };
  const client = await world.clients.find(id);
  const fault = client === undefined ? undefined : secretFault(client, shown);
  if (fault !== undefined) return { ...invalidClient(fault), scheme: shown?.scheme };
  if (client === undefined) {
    return { ...invalidClient('the client is unknown, or no longer known: register again'), scheme: shown?.scheme };
  }
  return client.secret === undefined ? checkAssertion(world, client, form) : client;
}

interface ShownSecret {
  readonly id: string | undefined;
  readonly method: NonNullable<ClientSecret['method']>;
  readonly text: string;
  readonly scheme?: 'Basic';
}

/**
 * Returns the secret of the request. undefined if the request has no secret. A request must not contain several proofs
 * (RFC 6749 section 2.3).
 */
function shownSecret(
  { headers: { authorization } }: IssuerRequest,
  form: URLSearchParams,
): ShownSecret | OAuthError | undefined {
  const inForm = form.get('client_secret');
  const proofs = [authorization, inForm, form.get('client_assertion')].filter((each) => typeof each === 'string');
  if (proofs.length > 1) {
    // The error is from RFC 6749 section 5.2. `invalid_client` would make the client register again.
    return { error: 'invalid_request', description: 'the client must prove itself in one way only' };
  }
  if (inForm !== null) return { id: undefined, method: 'client_secret_post', text: inForm };
  if (authorization === undefined) return undefined;
  const basic = readBasic(authorization);
  const other = form.get('client_id') ?? basic?.id;
  if (basic === undefined || other !== basic.id) {
    return {
      ...invalidClient('Authorization must be Basic, with the id and the secret of the client'),
      scheme: 'Basic',
    };
  }
  return { id: basic.id, method: 'client_secret_basic', text: basic.secret, scheme: 'Basic' };
}

/**
 * Returns the fault of the sent secret. undefined if the secret is valid and was sent as registered, or if the client
 * has no secret and sent none.
 */
function secretFault({ secret }: OAuthClient, shown: ShownSecret | undefined): string | undefined {
  if (secret === undefined) {
    return shown === undefined ? undefined : 'the client has no secret: send only client_id, in the form';
  }
  const { method: right } = secret;
  if (shown === undefined || (right !== undefined && shown.method !== right))
    return `the client must send its secret as ${right ?? SECRET_METHODS.join(' or ')}`;
  return provesSecret(secret, shown.text) ? undefined : 'the secret does not belong to the client';
}

async function checkAssertion(
  world: IssuerWorld,
  client: OAuthClient,
  form: URLSearchParams,
): Promise<OAuthClient | OAuthError> {
  const assertion = form.get('client_assertion');
  if (client.keys === undefined)
    return assertion === null ? client : invalidClient('the client has no keys to prove itself with');
  const isTyped = form.get('client_assertion_type') === ASSERTION_TYPE;
  const fault = assertion === null || !isTyped ? 'is missing' : await assertionFault(world, client, assertion);
  return fault === undefined ? client : invalidClient(`the client_assertion of the client ${fault}`);
}

/** Verifies an assertion (RFC 7523 section 3). */
async function assertionFault(
  world: IssuerWorld,
  { id, keys }: OAuthClient,
  assertion: string,
): Promise<string | undefined> {
  const { issuer } = world.settings;
  const nowMs = world.ports.clock.now();
  if (keys === undefined) return 'has no keys';
  for (const audience of [issuer, `${issuer}/oauth/token`]) {
    const checked = await checkJwt(keys.find, assertion, { issuer: id, audience }, nowMs);
    if (checked.ok) return spendAssertion(world, id, checked.claims, nowMs);
    if (checked.refusal.reason !== 'audience-mismatch') return `is refused: ${checked.refusal.reason}`;
  }
  return 'is for another audience';
}

/** Returns a fault if the assertion was used before. */
async function spendAssertion(
  { ports }: IssuerWorld,
  id: string,
  { sub, jti, exp }: JsonObject,
  nowMs: number,
): Promise<string | undefined> {
  const leftS = Number(exp) - nowMs / 1000;
  if (sub !== id) return 'must name the client as sub';
  if (typeof jti !== 'string' || jti === '') return 'must have a jti';
  if (leftS > ASSERTION_MAX_S) return `must expire within ${ASSERTION_MAX_S} seconds`;
  const isNew = await ports.store.add(KEYS.assertion(id, jti), '1', leftS * 1000 + ASSERTION_SKEW_MS);
  return isNew ? undefined : 'was used before';
}

function invalidClient(description: string): OAuthError {
  return { error: 'invalid_client', description };
}
