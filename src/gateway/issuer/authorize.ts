// Serves the authorization endpoint (RFC 6749 section 4.1.1). Validates a client's request, and asks the person for
// consent, or continues if the person has consented earlier.

import { isLoopback } from '#std/address/loopback.ts';
import type { OAuthClient } from './clients/clients.ts';
import { fitsRedirect, redirectError } from './clients/redirects.ts';
import { askConsent, consentCovers } from './consent.ts';
import { findOwnEndpoint } from './forwarded.ts';
import { isChallenge } from './keys/pkce.ts';
import { type IssuerAnswer, type IssuerRequest, type OAuthError, parameterFault, redirectAnswer } from './message.ts';
import { errorPage, refusalPage } from './pages/pages.ts';
import { type Authorization, findConsent, type PendingLogin } from './records.ts';
import { audienceFor, scopesFor } from './resources.ts';
import { beginVisit } from './visit.ts';
import { type IssuerWorld, noteRefusal, randomId } from './world.ts';

const STATE_LENGTH_MAX = 4096;

export async function authorize(world: IssuerWorld, request: IssuerRequest): Promise<IssuerAnswer> {
  const elsewhere = findOwnEndpoint(world, request);
  if (elsewhere !== undefined) return redirectAnswer(elsewhere);
  const { query } = request;
  const found = await findRedirect(world, query);
  if ('page' in found) return found.page;
  const { client, redirectUri, redirectNamed } = found;
  const state = query.get('state') ?? undefined;
  const checked = checkParameters(world, client, query);
  if ('error' in checked) {
    noteRefusal(world, checked.error, checked.description);
    return answerRefused(world, { redirectUri, state }, checked);
  }
  const authorization: Authorization = { client: client.id, redirectUri, redirectNamed, state, ...checked };
  const known = world.cookies.browser(request);
  const fresh = known === undefined ? world.cookies.newBrowser() : undefined;
  const cookies = fresh === undefined ? [] : [fresh.cookie];
  const person = world.cookies.person(request);
  const pending: PendingLogin = {
    stage: 'upstream',
    authorization,
    browser: known ?? fresh?.browser ?? '',
    session: randomId(world),
    person,
    consented: false,
    logins: [],
  };
  const consent = person === undefined ? undefined : await findConsent(world.ports.store, person, client.id);
  const asks = query.get('prompt') === 'consent' || !consentCovers(consent, authorization);
  if (asks) return askConsent(world, client, pending, cookies);
  const visit = await beginVisit(world, pending);
  if ('url' in visit) return redirectAnswer(visit.url, cookies);
  return redirectAnswer(redirectError(authorization, world.settings.issuer, visit.error, visit.description), cookies);
}

interface Redirect {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly redirectNamed: boolean;
}

/**
 * Returns the redirect URI of a request. If the client or its redirect URI is invalid, returns an error page (RFC 6749
 * section 4.1.2.1).
 */
async function findRedirect(
  world: IssuerWorld,
  query: URLSearchParams,
): Promise<Redirect | { readonly page: IssuerAnswer }> {
  const fault = parameterFault(query);
  // If `client_id` or `redirect_uri` repeats, or there are too many parameters, another server could read other values.
  if (fault !== undefined && [undefined, 'client_id', 'redirect_uri'].includes(fault.repeated))
    return refuse(world, `The request of the app cannot be read: ${fault.message}.`);
  const id = query.get('client_id') ?? '';
  const client = await world.clients.find(id);
  if (client === undefined) return refuse(world, URL.canParse(id) ? UNREADABLE : UNKNOWN);
  const named = query.get('redirect_uri');
  const [only, another] = client.redirectUris;
  if (named === null && only !== undefined && another === undefined && !isLoopbackUri(only)) {
    return { client, redirectUri: only, redirectNamed: false };
  }
  if (named !== null && fitsRedirect(client.redirectUris, named))
    return { client, redirectUri: named, redirectNamed: true };
  return refuse(
    world,
    'The app wants to send you to an address that it has not registered. You may have followed a forged link.',
  );
}

const UNKNOWN =
  'The app is unknown here, or has not been used for a long time. Let it connect again, so that it registers again.';
const UNREADABLE =
  'The app is described at an address of its own, but the description there cannot be read or used. The makers of the app can correct that.';

function isLoopbackUri(uri: string): boolean {
  return isLoopback(new URL(uri).hostname);
}

function refuse(world: IssuerWorld, message: string): { readonly page: IssuerAnswer } {
  noteRefusal(world, 'invalid_request', message);
  return { page: errorPage(400, 'This link cannot be used', message) };
}

type AuthorizationParts = Pick<Authorization, 'challenge' | 'scopes' | 'audience'>;

function checkParameters(
  { settings }: IssuerWorld,
  client: OAuthClient,
  query: URLSearchParams,
): AuthorizationParts | OAuthError {
  const fault = parameterFault(query);
  if (fault !== undefined) return invalidRequest(fault.message);
  if (query.has('request')) return { error: 'request_not_supported', description: 'request objects are not read' };
  if (query.has('request_uri'))
    return { error: 'request_uri_not_supported', description: 'request objects are not fetched' };
  if (query.get('response_type') !== 'code') {
    return { error: 'unsupported_response_type', description: 'response_type must be code' };
  }
  if (!['query', null].includes(query.get('response_mode'))) return invalidRequest('response_mode must be query');
  if ((query.get('state') ?? '').length > STATE_LENGTH_MAX) return invalidRequest('state is too long');
  const challenge = query.get('code_challenge') ?? '';
  if (query.get('code_challenge_method') !== 'S256' || !isChallenge(challenge)) {
    return invalidRequest('code_challenge with code_challenge_method=S256 is required (RFC 7636)');
  }
  const scopes = scopesFor(settings, client, query.get('scope'));
  const audience = audienceFor(settings, query.getAll('resource'));
  return 'error' in audience ? audience : { challenge, scopes, audience };
}

function invalidRequest(description: string): OAuthError {
  return { error: 'invalid_request', description };
}

/**
 * Answers a refused request of a client to which no person has consented. A redirect to a website would make this
 * server an open redirector (RFC 9700 section 4.11.2). A redirect to a link of an app would start the app. In both
 * cases a page lets the person decide. Only a loopback listener gets the redirect at once.
 */
function answerRefused(
  { settings }: IssuerWorld,
  to: { readonly redirectUri: string; readonly state?: string },
  { error, description }: OAuthError,
): IssuerAnswer {
  const url = redirectError(to, settings.issuer, error, description);
  return new URL(to.redirectUri).protocol === 'http:' ? redirectAnswer(url) : refusalPage(description, url);
}
