// Introspects a token at its provider (RFC 7662), and remembers the response for a short time.

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
import type { Cause, TokenRefusal } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';
import { checkBearer } from './token-form.ts';

/** Maximum time for which an acceptance is remembered. The `exp` of the token may shorten the time. */
const ACCEPTED_KEPT_MS = 60_000;
/** Time for which a refusal is remembered. */
const REFUSED_KEPT_MS = 10_000;
/** Time for which an unusable response is remembered. The token itself may have caused the response. */
const UNUSABLE_KEPT_MS = 2_000;
/**
 * Maximum number of remembered tokens. Accepted and refused tokens have separate limits, so that invented tokens do not
 * displace accepted tokens.
 */
const REMEMBERED_MAX = 10_000;
/**
 * Limits of requests about unknown tokens that end in a refusal: the maximum at once, and the number regained per
 * second.
 */
const REFUSALS_MAX = 200;
const REFUSALS_PER_SECOND = 20;

export type Introspect = (token: string) => Promise<TokenResult>;

/** Code of a response that is unusable for one token only. */
const UNUSABLE = 'introspection-unusable';
/**
 * Statuses of unusable responses that the token may have caused. Other statuses are faults of the endpoint or of this
 * client. Responses with status 200 are unusable because of their body.
 */
const QUESTION_STATUSES: readonly unknown[] = [200, 400, 413, 414, 422, 431];
/**
 * Error of RFC 7009 section 2.2.1, which introspection endpoints also send: the endpoint never accepts tokens of this
 * type.
 */
const UNSUPPORTED = 'unsupported_token_type';
const BUSY: Cause = { code: 'introspection-busy', message: 'too many unknown tokens in a short time' };

interface Remembered {
  readonly result: TokenResult;
  /** Time until which the result is remembered, in monotonic milliseconds. */
  readonly until: number;
}

/**
 * Introspects tokens at the introspectionUrl of a provider. Only a usable response decides on a token (RFC 7662 section
 * 2.2). After a failure of the endpoint, requests pause. Each further failure makes the next pause longer.
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

  /** `trusted` is true if the provider accepted the token before, so the token is not invented. */
  async function ask(token: string, trusted: boolean): Promise<TokenResult> {
    // During a pause, fails at once instead of waiting for the endpoint.
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
      // An unusable response for one token must not pause the introspection of other tokens.
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

/** Checks the response by RFC 7662 section 2.2, and the claims that every token must have. */
function checkAnswer(answer: JsonObject, provider: ProviderSettings, nowMs: number): TokenResult {
  if (answer.active !== true) return { ok: false, refusal: { reason: 'token-inactive' } };
  const { issuerUrl: issuer, audience, account } = provider;
  const refusal = checkBearer(answer) ?? checkClaims(answer, { issuer, audience, account }, nowMs);
  return refusal === undefined ? { ok: true, claims: answer } : { ok: false, refusal };
}

/**
 * Returns the monotonic time in milliseconds until which the result is remembered. Returns undefined if the result must
 * not be remembered.
 */
function keepUntil(result: TokenResult, clock: AuthPorts['clock']): number | undefined {
  if (result.ok) {
    const lifeMs = Number(result.claims.exp) * 1000 - clock.now();
    return clock.monotonic() + Math.min(lifeMs, ACCEPTED_KEPT_MS);
  }
  const { refusal } = result;
  if (refusal.reason !== 'introspection-unavailable') return clock.monotonic() + REFUSED_KEPT_MS;
  return refusal.cause.code === UNUSABLE ? clock.monotonic() + UNUSABLE_KEPT_MS : undefined;
}

function unavailable(cause: Cause): { readonly ok: false; readonly refusal: TokenRefusal } {
  return { ok: false, refusal: { reason: 'introspection-unavailable', cause } };
}
