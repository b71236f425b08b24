// Sends a browser to the next provider that the person must log in at.

import { Failure } from '#std/failure.ts';
import type { OAuthError } from './message.ts';
import { KEYS, PENDING_MS, type PendingLogin, writeRecord } from './records.ts';
import type { Upstream } from './upstream/upstream.ts';
import { type IssuerWorld, randomId } from './world.ts';

const VERIFIER_BYTES = 32;

/** Returns the next provider. undefined if the person has logged in at all providers. */
export function nextUpstream({ upstreams }: IssuerWorld, { logins }: PendingLogin): Upstream | undefined {
  return upstreams[logins.length];
}

/**
 * Returns the URL of the visit. Returns an error for the client if the provider is not usable. The state is valid for
 * one answer.
 */
export async function beginVisit(
  world: IssuerWorld,
  pending: PendingLogin,
): Promise<{ readonly url: string } | OAuthError> {
  const upstream = nextUpstream(world, pending) ?? world.upstreams[0];
  const visit = {
    state: randomId(world),
    nonce: randomId(world),
    verifier: world.ports.random(VERIFIER_BYTES).toString('base64url'),
  };
  const { state, nonce, verifier } = visit;
  try {
    const url = await upstream.authorizationUrl(visit);
    const next: PendingLogin = { ...pending, stage: 'upstream', nonce, verifier };
    await writeRecord(world.ports.store, KEYS.pending(state), next, PENDING_MS);
    return { url };
  } catch (error) {
    return upstreamError(world, upstream.name, error);
  }
}

/** Returns the error for the client, and logs the details. Throws failures of the store again. */
export function upstreamError({ ports }: IssuerWorld, provider: string, error: unknown): OAuthError {
  if (!(error instanceof Failure)) throw error;
  switch (error.code) {
    case 'issuer-upstream-unavailable':
      ports.notify({ code: error.code, level: 'warn', message: error.message, data: error.data });
      return {
        error: 'temporarily_unavailable',
        description: `${provider} cannot be reached at the moment; try again`,
      };
    case 'issuer-upstream-refused':
      ports.notify({ code: error.code, level: 'warn', message: error.message, data: error.data });
      return { error: 'access_denied', description: `the login at ${provider} was refused or cancelled` };
    case 'issuer-upstream-registration':
      ports.notify({ code: error.code, level: 'warn', message: error.message, data: error.data });
      return {
        error: 'temporarily_unavailable',
        description: `${provider} has not registered this server yet; ask the operator of this server`,
      };
    case 'issuer-upstream-invalid':
      ports.notify({ code: error.code, level: 'warn', message: error.message, data: error.data });
      return {
        error: 'server_error',
        description: `the answer of ${provider} cannot be used; ask the operator of this server`,
      };
    default:
      throw error;
  }
}
