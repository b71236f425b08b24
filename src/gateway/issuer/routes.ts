// Lists the paths of the authorization server, their handlers, and the rate limits for one address.

import { createRateLimit, type RateLimit } from '#std/rate.ts';
import { disconnectApp, showApps } from './apps.ts';
import { authorize } from './authorize.ts';
import { receiveCallback } from './callback.ts';
import { registerClient } from './clients/registration.ts';
import { answerConsent } from './consent.ts';
import { type IssuerAnswer, type IssuerRequest, jsonAnswer } from './message.ts';
import { issuerMetadata, metadataLocations } from './metadata.ts';
import type { IssuerClock } from './ports.ts';
import { revokeToken } from './revocation.ts';
import type { IssuerSettings } from './settings.ts';
import { giveTokens } from './token.ts';
import type { IssuerWorld } from './world.ts';

type Handle = (world: IssuerWorld, request: IssuerRequest) => IssuerAnswer | Promise<IssuerAnswer>;

export interface IssuerRoute {
  /** Name of the endpoint, for metrics. */
  readonly name: string;
  readonly methods: Readonly<Partial<Record<'GET' | 'POST', Handle>>>;
  /** `page` if the answer is a page for people. Pages of other origins cannot read answers of this audience. */
  readonly audience: 'client' | 'page';
  /** Limit for requests from one address. undefined if the answer costs nothing. */
  readonly limit: RateLimit | undefined;
}

/**
 * Requests per minute for one address. The limits are high, because an office, or all clients of an ingress, may share
 * one address.
 */
const PER_MINUTE = {
  authorize: 600,
  callback: 600,
  consent: 600,
  token: 3000,
  register: 300,
  revoke: 600,
  apps: 120,
} as const;

/** Headers of public documents that are the same for all clients. */
const DOCUMENT = { 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' } as const;
/** Headers of the keys. Clients cache the keys for a shorter time than other documents, because keys are rotated. */
const KEY_DOCUMENT = { ...DOCUMENT, 'cache-control': 'public, max-age=300' } as const;

export function issuerRoutes({
  settings,
  ports,
}: {
  readonly settings: IssuerSettings;
  readonly ports: { readonly clock: Pick<IssuerClock, 'monotonic'> };
}): ReadonlyMap<string, IssuerRoute> {
  const limits = Object.fromEntries(
    Object.entries(PER_MINUTE).map(([name, perMinute]) => [name, createRateLimit(perMinute, ports.clock.monotonic)]),
  );
  function route(
    name: keyof typeof PER_MINUTE,
    audience: IssuerRoute['audience'],
    methods: IssuerRoute['methods'],
  ): IssuerRoute {
    return { name, audience, methods, limit: limits[name] };
  }
  const documents = { name: 'metadata', audience: 'client', limit: undefined } as const;
  const pages = {
    authorize: route('authorize', 'page', { GET: authorize }),
    consent: route('consent', 'page', { POST: answerConsent }),
    apps: route('apps', 'page', { GET: showApps, POST: disconnectApp }),
  };
  const callback = route('callback', 'page', { GET: receiveCallback });
  const below = `${settings.path}/oauth`;
  return new Map<string, IssuerRoute>([
    ...metadataLocations(settings).map((path): [string, IssuerRoute] => [
      path,
      { ...documents, methods: { GET: showMetadata } },
    ]),
    [`${settings.path}/.well-known/jwks.json`, { ...documents, name: 'jwks', methods: { GET: showKeys } }],
    // Callbacks are also served at the paths of the providers' redirect URIs.
    ...settings.upstreams.map(({ redirectUri }): [string, IssuerRoute] => [new URL(redirectUri).pathname, callback]),
    // The paths below the issuer stay available, because clients may have read the metadata before another base URL was
    // configured.
    ...[below, `${settings.pagesPath}/oauth`].flatMap((base): [string, IssuerRoute][] => [
      [`${base}/callback`, callback],
      [`${base}/authorize`, pages.authorize],
      [`${base}/consent`, pages.consent],
      [`${base}/apps`, pages.apps],
    ]),
    [`${below}/token`, route('token', 'client', { POST: giveTokens })],
    [`${below}/register`, route('register', 'client', { POST: registerClient })],
    [`${below}/revoke`, route('revoke', 'client', { POST: revokeToken })],
  ]);
}

function showMetadata({ settings }: IssuerWorld): IssuerAnswer {
  return jsonAnswer(200, issuerMetadata(settings), { ...DOCUMENT, pragma: [] });
}

function showKeys({ keys }: IssuerWorld): IssuerAnswer {
  return { ...jsonAnswer(200, {}, { ...KEY_DOCUMENT, pragma: [] }), body: `${JSON.stringify(keys.published())}\n` };
}
