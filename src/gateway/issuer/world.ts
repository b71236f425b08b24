// Defines the context that all handlers of the authorization server share.

import type { Clients } from './clients/clients.ts';
import type { Cookies } from './cookies.ts';
import type { FindTrusted } from './grants/trust.ts';
import type { IssuerSecrets } from './keys/secrets.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { IssuerPorts } from './ports.ts';
import type { IssuerSettings } from './settings.ts';
import type { Upstream } from './upstream/upstream.ts';

export interface IssuerWorld {
  readonly settings: IssuerSettings;
  readonly ports: IssuerPorts;
  readonly secrets: IssuerSecrets;
  readonly keys: SigningKeys;
  readonly cookies: Cookies;
  readonly clients: Clients;
  readonly findTrusted: FindTrusted;
  /** Recently used access tokens of people, by `upstreamContext`. */
  readonly kept: Map<string, KeptToken>;
  /** Providers in the order in which people log in. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
}

interface KeptToken {
  readonly token: string;
  /** Expiry in monotonic milliseconds. */
  readonly until: number;
}

const RANDOM_BYTES = 16;

/** Returns a random id of 22 characters. */
export function randomId({ ports }: Pick<IssuerWorld, 'ports'>): string {
  return ports.random(RANDOM_BYTES).toString('base64url');
}

/** Returns the lifetime of a session's records in milliseconds. */
export function sessionMs({ settings }: Pick<IssuerWorld, 'settings'>): number {
  return settings.refreshMs + settings.accessMs;
}

export function noteRefusal({ ports }: Pick<IssuerWorld, 'ports'>, error: string, description: string): void {
  ports.notify({ code: 'issuer-request-refused', level: 'info', message: `${error}: ${description}`, data: { error } });
}
