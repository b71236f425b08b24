// Handles the return of a browser from a provider. Identifies the person, and redirects to the next provider or, with a
// code, to the client.

import { createHash } from 'node:crypto';
import { redirectError, redirectPlace, redirectWith } from './clients/redirects.ts';
import { uuidOf } from './clients/registration.ts';
import { askConsent, consentCovers, lostPage } from './consent.ts';
import { arrivedAt, findOwnCallback } from './forwarded.ts';
import { type IssuerAnswer, type IssuerRequest, redirectAnswer } from './message.ts';
import {
  type Authorization,
  type CodeRecord,
  changeConsent,
  findConsent,
  KEYS,
  type Login,
  type PendingLogin,
  type Person,
  SESSIONS_MAX,
  takePending,
  upstreamContext,
  writeRecord,
} from './records.ts';
import type { Upstream, UpstreamLogin } from './upstream/upstream.ts';
import { beginVisit, nextUpstream, upstreamError } from './visit.ts';
import { type IssuerWorld, noteRefusal, randomId, sessionMs } from './world.ts';

export async function receiveCallback(world: IssuerWorld, request: IssuerRequest): Promise<IssuerAnswer> {
  const elsewhere = await findOwnCallback(world, request);
  if (elsewhere !== undefined) return redirectAnswer(elsewhere);
  const pending = await takePending(world.ports.store, request.query.get('state') ?? '');
  const upstream = pending === undefined ? undefined : nextUpstream(world, pending);
  const isOwn = pending?.browser !== undefined && pending.browser === world.cookies.browser(request);
  if (pending?.stage !== 'upstream' || upstream === undefined || !isOwn || !isPathOf(world, upstream, request)) {
    noteRefusal(world, 'invalid_request', 'a browser came back from a provider with a login that did not begin there');
    return lostPage();
  }
  const { verifier = '', nonce = '', authorization } = pending;
  try {
    const login = await upstream.redeem({ verifier, nonce }, request.query);
    return await continueLogin(world, {
      ...pending,
      logins: [...pending.logins, kept(world, pending, upstream.name, login)],
    });
  } catch (error) {
    const { error: code, description } = upstreamError(world, upstream.name, error);
    return redirectAnswer(redirectError(authorization, world.settings.issuer, code, description));
  }
}

/**
 * Returns whether the answer arrived at a callback of this provider. The answer of one provider must not count as an
 * answer of another provider (RFC 9700 section 4.4.2). A forwarded answer counts for the callback at which the answer
 * first arrived.
 */
function isPathOf({ settings }: IssuerWorld, { redirectUri }: Upstream, request: IssuerRequest): boolean {
  const { path: issuerPath, pagesPath } = settings;
  const own = [new URL(redirectUri).pathname, `${issuerPath}/oauth/callback`, `${pagesPath}/oauth/callback`];
  return own.includes(arrivedAt(request));
}

function kept({ secrets }: IssuerWorld, { session }: PendingLogin, provider: string, login: UpstreamLogin): Login {
  const { subject, name, email, tokens } = login;
  const sealed = secrets.seal('upstream tokens', upstreamContext(session, provider), JSON.stringify(tokens));
  return { provider, subject, name, email, tokens: sealed };
}

async function continueLogin(world: IssuerWorld, pending: PendingLogin): Promise<IssuerAnswer> {
  const { authorization } = pending;
  if (nextUpstream(world, pending) !== undefined) {
    const visit = await beginVisit(world, pending);
    if ('url' in visit) return redirectAnswer(visit.url);
    return redirectAnswer(redirectError(authorization, world.settings.issuer, visit.error, visit.description));
  }
  const person = personOf(world, pending.logins);
  const cookies = [world.cookies.setPerson(person.subject)];
  const refused = await settleConsent(world, pending, person, cookies);
  if (refused !== undefined) return refused;
  return redirectAnswer(await giveCode(world, pending, person), cookies);
}

/**
 * Stores the person's consent and returns undefined. If the person has not consented, in this login or earlier, returns
 * the page that asks for consent. If the client no longer exists, returns an error page.
 */
async function settleConsent(
  world: IssuerWorld,
  pending: PendingLogin,
  person: Person,
  cookies: readonly string[],
): Promise<IssuerAnswer | undefined> {
  const { store, clock } = world.ports;
  const { authorization } = pending;
  const client = await world.clients.find(authorization.client);
  if (client === undefined) return lostPage();
  const before = await findConsent(store, person.subject, client.id);
  if (!pending.consented && !consentCovers(before, authorization)) {
    // The person of the browser's cookie has consented, but another person has logged in.
    return askConsent(world, client, { ...pending, logins: [], session: randomId(world) }, cookies);
  }
  await changeConsent(store, person.subject, client.id, {
    name: client.name,
    redirectHost: redirectPlace(authorization.redirectUri),
    scopes: union(before?.scopes, authorization.scopes),
    audience: union(before?.audience, authorization.audience),
    atMs: clock.now(),
    sessions: union(before?.sessions, [pending.session]).slice(-SESSIONS_MAX),
  });
  return undefined;
}

function union(before: readonly string[] = [], now: readonly string[]): readonly string[] {
  return [...new Set([...before, ...now])];
}

/**
 * Returns the person, as identified by the first provider. Name and email address come from the first provider that
 * sent the value.
 */
function personOf({ settings }: IssuerWorld, logins: readonly Login[]): Person {
  const [first] = logins;
  const name = logins.find((login) => login.name !== undefined)?.name;
  const email = logins.find((login) => login.email !== undefined)?.email;
  return { subject: personId(settings.issuer, first?.provider ?? '', first?.subject ?? ''), name, email };
}

/** Returns an id that is the same on every replica. The id is not stored, and differs between issuers. */
function personId(issuer: string, provider: string, subject: string): string {
  return uuidOf(
    createHash('sha256')
      .update(JSON.stringify([issuer, provider, subject]))
      .digest(),
    8,
  );
}

async function giveCode(world: IssuerWorld, pending: PendingLogin, person: Person): Promise<string> {
  const { ports, secrets, settings } = world;
  const { authorization, session, logins } = pending;
  await Promise.all(
    logins.map(({ provider, tokens }) => ports.store.set(KEYS.upstream(session, provider), tokens, sessionMs(world))),
  );
  const id = randomId(world);
  const record: CodeRecord = { authorization, session, person, used: false };
  await writeRecord(ports.store, KEYS.code(id), record, settings.codeMs);
  const code = secrets.mint('authorization code', { id, generation: 0 });
  return redirectWith(authorization.redirectUri, answerParameters(authorization, code, settings.issuer));
}

/** Returns the parameters of the redirect to the client (RFC 6749 section 4.1.2 and RFC 9207 section 2). */
function answerParameters({ state }: Authorization, code: string, iss: string) {
  return { code, state, iss };
}
