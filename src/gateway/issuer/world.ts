// What every handler of the authorization server works with.

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
  /** Tokens of people that were in use just now, by `upstreamContext`. */
  readonly kept: Map<string, KeptToken>;
  /** In the order in which people log in with them. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
}

interface KeptToken {
  readonly token: string;
  /** Monotonic milliseconds. */
  readonly until: number;
}

const RANDOM_BYTES = 16;

/** 22 characters that no one can guess. */
export function randomId({ ports }: Pick<IssuerWorld, 'ports'>): string {
  return ports.random(RANDOM_BYTES).toString('base64url');
}

/** Of everything that a session has. */
export function sessionMs({ settings }: Pick<IssuerWorld, 'settings'>): number {
  return settings.refreshMs + settings.accessMs;
}

/** For a person and for the log alike: what was refused, and why. */
export function noteRefusal({ ports }: Pick<IssuerWorld, 'ports'>, error: string, description: string): void {
  ports.notify({ code: 'issuer-request-refused', level: 'info', message: `${error}: ${description}`, data: { error } });
}
