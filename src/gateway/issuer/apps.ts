// Shows people the clients that they have consented to, and lets people withdraw a consent.

import { isSameOrigin, lostPage } from './consent.ts';
import { type IssuerAnswer, type IssuerRequest, readForm, redirectAnswer } from './message.ts';
import { appsPage } from './pages/pages.ts';
import { type Consents, changeConsent, findConsent, KEYS, readRecord } from './records.ts';
import { endSession } from './sessions.ts';
import type { IssuerWorld } from './world.ts';

/** Shows the apps of the person who last logged in with this browser. */
export async function showApps(
  { settings, ports, cookies }: IssuerWorld,
  request: IssuerRequest,
): Promise<IssuerAnswer> {
  const person = cookies.person(request);
  const known = person === undefined ? undefined : await readRecord<Consents>(ports.store, KEYS.consents(person));
  const apps = Object.entries(known?.record ?? {}).map(([client, { name, redirectHost: place, scopes }]) => {
    return { client, name, place, scopes };
  });
  return appsPage(appsPath(settings.pagesPath), apps);
}

/** Withdraws the consent, and ends all sessions that are based on the consent. */
export async function disconnectApp(world: IssuerWorld, request: IssuerRequest): Promise<IssuerAnswer> {
  const { store } = world.ports;
  const person = world.cookies.person(request);
  const client = readForm(request)?.get('client') ?? '';
  if (person === undefined || client === '' || !isSameOrigin(world, request)) return lostPage();
  const consent = await findConsent(store, person, client);
  await changeConsent(store, person, client, undefined);
  for (const session of consent?.sessions ?? []) await endSession(world, session, 'the person disconnected the app');
  return redirectAnswer(`${world.settings.pagesUrl}/oauth/apps`);
}

function appsPath(path: string): string {
  return `${path}/oauth/apps`;
}
