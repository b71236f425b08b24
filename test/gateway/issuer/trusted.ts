// Starts an authorization server that trusts another issuer, and signs tokens of this issuer.

import type { JWTPayload } from 'jose';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { configOf, type DirectIssuer, oidcTo, openDirect, RESOURCE } from './direct.ts';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.ts';
import { type Answer, type AuthServer, post } from './world.ts';

export type TrustedBlock = NonNullable<AuthServer['trusted_issuers']>[number];

export interface TrustedWorld {
  readonly issuer: DirectIssuer;
  readonly other: Issuer;
  readonly provider: RecordingProvider;
  /** Signs a token of the other issuer. undefined removes a claim. */
  sign(claims?: JWTPayload, options?: Parameters<Issuer['sign']>[1]): Promise<string>;
  token(form: Readonly<Record<string, string>> | string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  close(): Promise<void>;
}

export const WORKLOAD = 'system:robot';
export const DELEGATE = { id: 'reports: daily', secret: 'a secret & more' } as const;

/** `common` contains claims of all signed tokens. */
export async function openTrusted(
  more: (other: Issuer, origin: string) => Partial<AuthServer>,
  common: (issuer: DirectIssuer) => JWTPayload,
): Promise<TrustedWorld> {
  const [other, provider] = await Promise.all([startIssuer(), startRecordingProvider()]);
  const issuer = await openDirect({
    config: (origin) => ({ ...configOf(origin, [oidcTo(origin, provider)]), ...more(other, origin) }),
    environment: { DELEGATE_SECRET: DELEGATE.secret },
  });
  let ids = 0;
  return {
    ...{ issuer, other, provider },
    sign(claims = {}, options) {
      ids += 1;
      const now = Math.floor(Date.now() / 1000);
      const all = {
        iss: other.url,
        sub: WORKLOAD,
        iat: now,
        exp: now + 60,
        jti: `id-${ids}`,
        ...common(issuer),
        ...claims,
      };
      return other.sign(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)), options);
    },
    token: (form, headers) => post(`${issuer.issuer}/oauth/token`, form, headers),
    async close() {
      await Promise.all([issuer.close(), other.close(), provider.close()]);
    },
  };
}

export function trustedBlock({ url, jwksUrl }: Issuer, more: Partial<TrustedBlock>): TrustedBlock {
  return { issuer_url: url, jwks_url: jwksUrl, insecure_allow_http: true, allow_private_ips: true, ...more };
}

export const BEARER = {
  max_assertion_age: '5m',
  subject_bindings: [{ subject: WORKLOAD, allowed_resources: [RESOURCE] }],
};

export const DELEGATE_CLIENT = {
  client_id: DELEGATE.id,
  client_secret_env_var: 'DELEGATE_SECRET',
  scopes: ['weather', 'storm'],
  audiences: [RESOURCE],
};
