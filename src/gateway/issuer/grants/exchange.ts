// Exchanges tokens (RFC 8693). A delegate client gets a token to act for the subject of another token, which this
// server or a trusted issuer has issued. The new token names the subject and the client.

import { scopesOf } from '#auth/identity.ts';
import { checkForm } from '#auth/token-form.ts';
import { knownResource } from '#contracts/auth-server/resources.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { readOwnToken, type TokenFacts } from '../access-token.ts';
import type { OAuthClient } from '../clients/clients.ts';
import type { OAuthError } from '../message.ts';
import { KEYS, type Person } from '../records.ts';
import { audienceFor, scopeNames } from '../resources.ts';
import type { IssuerWorld } from '../world.ts';
import type { Delegation } from './settings.ts';
import { audiencesIn, checkTrusted, foreignSubject, subjectIn, type Trusted } from './trust.ts';

const URN = 'urn:ietf:params:oauth:token-type:';
const ACCESS_TOKEN = `${URN}access_token`;
const SUBJECT_TYPES: readonly (string | null)[] = [ACCESS_TOKEN, `${URN}jwt`];

/** Maximum number of parties in the `act` claim of a token. ACT_BYTES_MAX is the maximum length of the claim. */
const ACTORS_MAX = 10;
const ACT_BYTES_MAX = 8 * 1024;
const TOO_MANY_ACTORS = 'too many parties act for one another in the subject_token';
/**
 * Claims that only ID tokens contain (OpenID Connect Core 1.0 sections 2 and 3.3.2.11). ID tokens are not for
 * resources, so they must not be exchanged.
 */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash', 's_hash', 'nonce'];

/** Subject of a token, with the scopes and audience of the token. */
interface TokenSubject {
  readonly person: Person;
  /** Login that the token comes from. undefined for a token of another issuer. */
  readonly session: string | undefined;
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  /** `act` claim of the token, which names the parties that acted before this client. */
  readonly act: Json | undefined;
  readonly untilMs: number;
}

export async function exchangeToken(
  world: IssuerWorld,
  { id, delegate }: OAuthClient,
  form: URLSearchParams,
): Promise<TokenFacts | OAuthError> {
  if (delegate === undefined)
    return { error: 'unauthorized_client', description: 'only clients of delegateClients exchange tokens' };
  const fault = parameterFault(form);
  if (fault !== undefined) return invalidRequest(fault);
  const subject = await subjectOf(world, id, form.get('subject_token') ?? '');
  if ('error' in subject) return subject;
  const audience = exchangeTarget(world, delegate.audiences, subject, form);
  if ('error' in audience) return audience;
  const scopes = scopesFor(delegate.scopes, subject, form.get('scope'));
  if ('error' in scopes) return scopes;
  const act = { iss: world.settings.issuer, sub: id, ...(subject.act === undefined ? {} : { act: subject.act }) };
  const misfit = actFault(act);
  if (misfit !== undefined) return invalidRequest(misfit);
  const { person, session, untilMs } = subject;
  return { client: id, session, person, scopes, audience, act, untilMs };
}

function parameterFault(form: URLSearchParams): string | undefined {
  if (form.get('subject_token') === null) return 'subject_token is missing';
  if (!SUBJECT_TYPES.includes(form.get('subject_token_type')))
    return 'subject_token_type must name an access token or a JWT';
  if (![null, ACCESS_TOKEN].includes(form.get('requested_token_type')))
    return 'requested_token_type must name an access token';
  // The actor is always the authenticated client.
  return form.has('actor_token') || form.has('actor_token_type') ? 'actor_token is not read' : undefined;
}

async function subjectOf(world: IssuerWorld, client: string, token: string): Promise<TokenSubject | OAuthError> {
  const own = await readOwnToken(world, token);
  if (own !== undefined) return ownSubject(world, own);
  const trusted = world.findTrusted(token);
  if (trusted?.delegation === undefined) return invalidRequest('the subject_token is not of an issuer that is trusted');
  return foreignSubjectOf(world, { ...trusted, delegation: trusted.delegation }, client, token);
}

/** Returns the subject of a token of this server. Returns an error if the token's login has ended. */
async function ownSubject(world: IssuerWorld, claims: JsonObject): Promise<TokenSubject | OAuthError> {
  const { sub, name, email, tsid: session } = claims;
  if (typeof session === 'string' && !(await stands(world, session)))
    return invalidRequest('the login behind the subject_token has ended');
  return {
    person: { subject: String(sub), name: nonEmptyText(name), email: nonEmptyText(email) },
    session: nonEmptyText(session),
    ...grantedBy(claims),
    act: claims.act,
  };
}

async function stands({ ports, upstreams: [first] }: IssuerWorld, session: string): Promise<boolean> {
  return (await ports.store.get(KEYS.upstream(session, first.name))) !== undefined;
}

async function foreignSubjectOf(
  world: IssuerWorld,
  trusted: Trusted & { readonly delegation: Delegation },
  client: string,
  token: string,
): Promise<TokenSubject | OAuthError> {
  const { issuer, delegation } = trusted;
  if (!delegation.permits(client))
    return { error: 'unauthorized_client', description: 'the client may not exchange tokens of this issuer' };
  const form = checkForm(token, undefined);
  if (form !== undefined) return invalidRequest(`the subject_token is refused: ${form.reason}`);
  const nowMs = world.ports.clock.now();
  const checked = await checkTrusted(trusted, token, delegation.audience, { code: 'invalid_request', nowMs });
  if ('error' in checked) return checked;
  const { claims } = checked;
  const sub = subjectIn(claims);
  if (sub === undefined) return invalidRequest('the subject_token must have a sub');
  if (ID_TOKEN_CLAIMS.some((claim) => Object.hasOwn(claims, claim)))
    return invalidRequest('the subject_token is an ID token, which is not for resources');
  if (!isPermitted(claims, delegation, { server: world.settings.issuer, client }))
    return invalidRequest('the subject_token does not permit this client to act for its subject');
  const actor = nonEmptyText(claims[delegation.actorClaim]);
  return {
    person: { subject: foreignSubject(issuer, sub) },
    session: undefined,
    ...grantedBy(claims),
    act: {
      iss: issuer,
      ...(actor === undefined ? {} : { sub: actor }),
      ...(claims.act === undefined ? {} : { act: claims.act }),
    },
  };
}

/**
 * Returns whether the token allows the client to act for its subject. If the token has may_act, only may_act decides
 * (RFC 8693 section 4.4). may_act must name this server and the client, because client ids are only unique within a
 * server.
 */
function isPermitted(
  claims: JsonObject,
  { actorClaim, actors, matches, mayAct: isMayActRead }: Delegation,
  { server, client }: { readonly server: string; readonly client: string },
): boolean {
  const { may_act: mayAct } = claims;
  if (mayAct !== undefined) return isMayActRead && isObject(mayAct) && mayAct.iss === server && mayAct.sub === client;
  const actor = claims[actorClaim];
  return (typeof actor === 'string' && actors.includes(actor)) || matches(claims);
}

function grantedBy(claims: JsonObject): Pick<TokenSubject, 'audience' | 'scopes' | 'untilMs'> {
  return { audience: audiencesIn(claims), scopes: scopesOf(claims), untilMs: Number(claims.exp) * 1000 };
}

/**
 * Returns the `aud` of the new token: one resource that both the client and the subject_token allow (RFC 8693 section
 * 2.1).
 */
function exchangeTarget(
  { settings }: IssuerWorld,
  allowed: readonly string[],
  { audience: subject }: TokenSubject,
  form: URLSearchParams,
): readonly string[] | OAuthError {
  const asked = [...new Set([...form.getAll('resource'), ...form.getAll('audience')])];
  const [target = allowed[0] ?? '', another] = asked;
  if (another !== undefined || (asked.length === 0 && allowed.length > 1))
    return { error: 'invalid_target', description: 'a token is for one resource: name one' };
  if (knownResource(allowed, target) === undefined)
    return { error: 'invalid_target', description: 'the client gets no tokens for the resource' };
  if (knownResource(subject, target) === undefined)
    return { error: 'invalid_target', description: 'the subject_token is for another resource' };
  return audienceFor(settings, [target]);
}

/** Returns the scopes of the new token. Both the client and the subject_token must have each scope. */
function scopesFor(
  allowed: readonly string[],
  { scopes: granted }: TokenSubject,
  asked: string | null,
): readonly string[] | OAuthError {
  const both = allowed.filter((scope) => granted.includes(scope));
  if (asked === null || asked.trim() === '') return both;
  const names = scopeNames(asked);
  if (names.every((name) => both.includes(name))) return names;
  return { error: 'invalid_scope', description: 'the client or the subject_token does not have a scope' };
}

/**
 * Returns the fault of an `act` claim. Refuses an `act` that is not an object, because the new token would not name all
 * parties.
 */
function actFault(act: JsonObject): string | undefined {
  let count = 0;
  for (let party: Json | undefined = act; party !== undefined; party = party.act) {
    if (!isObject(party)) return 'an act claim of the subject_token is not an object';
    count += 1;
    if (count > ACTORS_MAX) return TOO_MANY_ACTORS;
  }
  return JSON.stringify(act).length > ACT_BYTES_MAX ? TOO_MANY_ACTORS : undefined;
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function invalidRequest(description: string): OAuthError {
  return { error: 'invalid_request', description };
}
