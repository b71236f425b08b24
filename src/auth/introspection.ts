// Asks a provider about a token (RFC 7662) and remembers the answer for a short while.

import { setBounded } from '#std/bounded.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { afterFailure, NO_BACKOFF } from './backoff.ts';
import { createBudget } from './budget.ts';
import { checkClaims } from './claims.ts';
import type { TokenResult } from './jwt.ts';
import { causeOf, postForm } from './outbound.ts';
import type { AuthPorts } from './ports.ts';
import type { Cause, Refusal } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';
import { checkBearer } from './token-form.ts';

/** An accepted token is asked about again after this, or when it expires, whichever is first. */
const ACCEPTED_KEPT_MS = 60_000;
/** A refused token is asked about again after this. */
const REFUSED_KEPT_MS = 10_000;
/** An answer that says nothing about a token may be the fault of that token alone: no one asks about it again for so long. */
const UNUSABLE_KEPT_MS = 2_000;
/** Of each sort: tokens that someone invents must not push out those that were accepted. */
const REMEMBERED_MAX = 10_000;
/** Questions that may end in a refusal at once, and how many more each second. */
const REFUSALS_MAX = 200;
const REFUSALS_PER_SECOND = 20;

export type Introspect = (token: string) => Promise<TokenResult>;

/** Code of the cause where this one question got no usable answer. */
const UNUSABLE = 'introspection-unusable';
/** Statuses that may come of what was asked; all others are about the endpoint, or about us. 200: a body that is no answer. */
const QUESTION_STATUSES: readonly unknown[] = [200, 400, 413, 414, 422, 431];
/** RFC 7009 section 2.2.1, which endpoints use here as well: it will never answer for such a token. */
const UNSUPPORTED = 'unsupported_token_type';
const BUSY: Cause = { code: 'introspection-busy', message: 'too many unknown tokens in a short time' };

interface Remembered {
  readonly result: TokenResult;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/**
 * For a provider with an introspectionUrl. Only a usable answer says anything about a token (RFC 7662 section 2.2); whatever
 * else comes leaves it undecided, and what the endpoint as a whole is at fault for makes it be asked with growing pauses.
 */
export function createIntrospection(
  ports: AuthPorts,
  provider: ProviderSettings & { readonly introspectionUrl: string },
): Introspect {
  const accepted = new Map<string, Remembered>();
  const refused = new Map<string, Remembered>();
  const budget = createBudget(REFUSALS_MAX, REFUSALS_PER_SECOND, ports.clock.monotonic);
  const pending = new Map<string, Promise<TokenResult>>();
  let backoff = NO_BACKOFF;
  let lastCause: Cause | undefined;

  /** `trusted`: the token was accepted before, so no one made it up. */
  async function ask(token: string, trusted: boolean): Promise<TokenResult> {
    // While backing off no one waits for an endpoint that is down.
    if (lastCause !== undefined && ports.clock.monotonic() < backoff.retryAt) return unavailable(lastCause);
    if (trusted) return put(token);
    if (!budget.take()) return unavailable(BUSY);
    const result = await put(token);
    if (result.ok || lastCause !== undefined) budget.giveBack();
    return result;
  }

  async function put(token: string): Promise<TokenResult> {
    try {
      const answer = await postForm(ports, provider, provider.introspectionUrl, {
        token,
        token_type_hint: 'access_token',
      });
      reopen();
      return checkAnswer(answer, provider, ports.clock.now());
    } catch (error) {
      const cause = causeOf(error);
      const { status, error: name } = error instanceof Failure ? error.data : {};
      if (status === 400 && name === UNSUPPORTED) {
        reopen();
        return { ok: false, refusal: { reason: 'token-unsupported' } };
      }
      // One token that no one can answer for must not close the endpoint to the others.
      if (cause.code === 'provider-answer-invalid' && QUESTION_STATUSES.includes(status))
        return unavailable({ ...cause, code: UNUSABLE });
      backoff = afterFailure(backoff, ports.clock.monotonic());
      lastCause = cause;
      return unavailable(cause);
    }
  }

  function reopen(): void {
    backoff = NO_BACKOFF;
    lastCause = undefined;
  }

  function remember(key: string, result: TokenResult): void {
    const until = keepUntil(result, ports.clock);
    if (until === undefined) return;
    if (!result.ok) accepted.delete(key);
    setBounded(result.ok ? accepted : refused, key, { result, until }, REMEMBERED_MAX);
  }

  function recall(key: string): TokenResult | undefined {
    const known = [accepted.get(key), refused.get(key)];
    return known.find((each) => each !== undefined && ports.clock.monotonic() < each.until)?.result;
  }

  return async function introspect(token) {
    const key = sha256(token);
    const known = recall(key);
    if (known !== undefined) return known;
    const asked = pending.get(key);
    if (asked !== undefined) return asked;
    const asking = ask(token, accepted.has(key)).finally(() => pending.delete(key));
    pending.set(key, asking);
    const result = await asking;
    remember(key, result);
    return result;
  };
}

/** RFC 7662 section 2.2, and the claims that are required of every token. */
function checkAnswer(answer: JsonObject, provider: ProviderSettings, nowMs: number): TokenResult {
  if (answer.active !== true) return { ok: false, refusal: { reason: 'token-inactive' } };
  const { issuerUrl: issuer, audience, account } = provider;
  const refusal = checkBearer(answer) ?? checkClaims(answer, { issuer, audience, account }, nowMs);
  return refusal === undefined ? { ok: true, claims: answer } : { ok: false, refusal };
}

/** Monotonic milliseconds; undefined where the result must not be remembered. */
function keepUntil(result: TokenResult, clock: AuthPorts['clock']): number | undefined {
  if (result.ok) {
    const lifeMs = Number(result.claims.exp) * 1000 - clock.now();
    return clock.monotonic() + Math.min(lifeMs, ACCEPTED_KEPT_MS);
  }
  const { refusal } = result;
  if (refusal.reason !== 'introspection-unavailable') return clock.monotonic() + REFUSED_KEPT_MS;
  return refusal.cause.code === UNUSABLE ? clock.monotonic() + UNUSABLE_KEPT_MS : undefined;
}

function unavailable(cause: Cause): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { reason: 'introspection-unavailable', cause } };
}
