// Asks a provider about a token (RFC 7662) and remembers the answer for a short while. Knows nothing about JWTs.

import { sha256 } from '../std/hash.ts';
import type { JsonObject } from '../std/json.ts';
import { afterFailure, NO_BACKOFF } from './backoff.ts';
import { checkClaims } from './claims.ts';
import type { TokenResult } from './jwt.ts';
import { causeOf, postForm } from './outbound.ts';
import type { AuthPorts } from './ports.ts';
import type { Cause, Refusal } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';

/** An accepted token is asked about again after this, or when it expires, whichever is first. */
const ACCEPTED_KEPT_MS = 60_000;
/** A refused token is asked about again after this. */
const REFUSED_KEPT_MS = 10_000;
const REMEMBERED_MAX = 10_000;

export type Introspect = (token: string) => Promise<TokenResult>;

interface Remembered {
  readonly result: TokenResult;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** For a provider with an introspectionUrl. Failures of the endpoint are refusals and are not remembered. */
export function createIntrospection(
  ports: AuthPorts,
  provider: ProviderSettings & { readonly introspectionUrl: string },
): Introspect {
  const remembered = new Map<string, Remembered>();
  const pending = new Map<string, Promise<TokenResult>>();
  let backoff = NO_BACKOFF;
  let lastCause: Cause | undefined;

  async function ask(token: string): Promise<TokenResult> {
    // While backing off nobody waits for an endpoint that is down.
    if (lastCause !== undefined && ports.clock.monotonic() < backoff.retryAt) return unavailable(lastCause);
    try {
      const answer = await postForm(ports, provider, provider.introspectionUrl, {
        token,
        token_type_hint: 'access_token',
      });
      backoff = NO_BACKOFF;
      lastCause = undefined;
      return judge(answer, provider, ports.clock.now());
    } catch (error) {
      return fail(causeOf(error));
    }
  }

  function fail(cause: Cause): TokenResult {
    // An unusable answer may be the fault of this one token: it must not close the endpoint to the others.
    if (cause.code !== 'provider-answer-invalid') {
      backoff = afterFailure(backoff, ports.clock.monotonic());
      lastCause = cause;
    }
    return unavailable(cause);
  }

  function remember(key: string, result: TokenResult): void {
    const until = keepUntil(result, ports.clock);
    if (until === undefined) return;
    const [oldest] = remembered.keys();
    if (remembered.size >= REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    remembered.set(key, { result, until });
  }

  return async function introspect(token) {
    const key = sha256(token);
    const known = remembered.get(key);
    if (known !== undefined && ports.clock.monotonic() < known.until) return known.result;
    remembered.delete(key);
    const asked = pending.get(key);
    if (asked !== undefined) return asked;
    const asking = ask(token).finally(() => pending.delete(key));
    pending.set(key, asking);
    const result = await asking;
    remember(key, result);
    return result;
  };
}

/** RFC 7662 section 2.2, and the claims that document 1 requires of every token. */
function judge(answer: JsonObject, provider: ProviderSettings, nowMs: number): TokenResult {
  if (answer.active !== true) return { ok: false, refusal: { reason: 'token-inactive' } };
  const refusal = checkClaims(answer, { issuer: provider.issuerUrl, audience: provider.audience }, nowMs);
  return refusal === undefined ? { ok: true, claims: answer } : { ok: false, refusal };
}

/** Monotonic milliseconds; undefined where the result must not be remembered. */
function keepUntil(result: TokenResult, clock: AuthPorts['clock']): number | undefined {
  if (result.ok) {
    const lifeMs = Number(result.claims.exp) * 1000 - clock.now();
    return clock.monotonic() + Math.min(lifeMs, ACCEPTED_KEPT_MS);
  }
  return result.refusal.reason === 'introspection-unavailable' ? undefined : clock.monotonic() + REFUSED_KEPT_MS;
}

function unavailable(cause: Cause): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { reason: 'introspection-unavailable', cause } };
}
