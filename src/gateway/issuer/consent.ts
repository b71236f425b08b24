// Asks a person for consent to a client, and applies the person's decision.

import type { OAuthClient } from './clients/clients.ts';
import { redirectError, redirectPlace } from './clients/redirects.ts';
import { type IssuerAnswer, type IssuerRequest, readForm } from './message.ts';
import { consentPage, continuePage, errorPage } from './pages/pages.ts';
import {
  type Authorization,
  type Consent,
  KEYS,
  PENDING_MS,
  type PendingLogin,
  takePending,
  writeRecord,
} from './records.ts';
import { beginVisit } from './visit.ts';
import { type IssuerWorld, randomId } from './world.ts';

/**
 * Returns whether an earlier consent covers the request. Only a redirect to an https site proves the identity of the
 * client. Every app on the machine can listen on a loopback port or register a scheme, so for these redirects the
 * person is always asked (RFC 8252 section 8.6).
 */
export function consentCovers(consent: Consent | undefined, { scopes, audience, redirectUri }: Authorization): boolean {
  if (new URL(redirectUri).protocol !== 'https:') return false;
  if (consent === undefined || consent.redirectHost !== redirectPlace(redirectUri)) return false;
  return (
    scopes.every((scope) => consent.scopes.includes(scope)) && audience.every((each) => consent.audience.includes(each))
  );
}

/** Shows the consent form. The id of the form is valid for one answer in the same browser. */
export async function askConsent(
  world: IssuerWorld,
  client: OAuthClient,
  pending: PendingLogin,
  cookies: readonly string[],
): Promise<IssuerAnswer> {
  const id = randomId(world);
  await writeRecord(
    world.ports.store,
    KEYS.pending(id),
    { ...pending, stage: 'consent' } satisfies PendingLogin,
    PENDING_MS,
  );
  const { authorization } = pending;
  return consentPage(
    {
      pending: id,
      action: `${world.settings.pagesPath}/oauth/consent`,
      client: client.name,
      host: client.host,
      place: redirectPlace(authorization.redirectUri),
      scopes: authorization.scopes,
      resource: authorization.audience[0] ?? '',
      providers: world.upstreams.map(({ name, host }) => ({ name, host })),
    },
    cookies,
  );
}

export async function answerConsent(world: IssuerWorld, request: IssuerRequest): Promise<IssuerAnswer> {
  const form = readForm(request);
  const pending = form === undefined ? undefined : await takePending(world.ports.store, form.get('pending') ?? '');
  const isOwn = pending?.browser === world.cookies.browser(request) && isSameOrigin(world, request);
  if (pending?.stage !== 'consent' || !isOwn) return lostPage();
  const { authorization } = pending;
  if (form?.get('decision') !== 'allow') {
    const denied = redirectError(authorization, world.settings.issuer, 'access_denied', 'the person did not allow it');
    return continuePage(denied, redirectPlace(authorization.redirectUri));
  }
  const visit = await beginVisit(world, { ...pending, consented: true });
  if ('url' in visit) return continuePage(visit.url, new URL(visit.url).host);
  const failed = redirectError(authorization, world.settings.issuer, visit.error, visit.description);
  return continuePage(failed, redirectPlace(authorization.redirectUri));
}

/**
 * Returns whether a page of this server sent the form. A request without Origin is accepted, because old browsers send
 * no Origin.
 */
export function isSameOrigin({ settings }: IssuerWorld, { headers }: IssuerRequest): boolean {
  const { origin } = headers;
  return origin === undefined || origin === new URL(settings.pagesUrl).origin;
}

export function lostPage(): IssuerAnswer {
  return errorPage(
    400,
    'This login cannot be continued',
    'It was used already, took longer than ten minutes, or began in another browser. Go back to the app and connect again.',
  );
}
