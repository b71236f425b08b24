// Stores the results of logins: the person's tokens at the providers. Refreshes tokens when they expire, and deletes
// tokens when the session ends.

import { decodeJwt } from 'jose/jwt/decode';
import { setBounded } from '#std/bounded.ts';
import { Failure } from '#std/failure.ts';
import { KEYS, upstreamContext } from './records.ts';
import type { Upstream, UpstreamTokens } from './upstream/upstream.ts';
import { type IssuerWorld, sessionMs } from './world.ts';

/** Time before the expiry at which tokens are refreshed, because requests take time and clocks differ. */
const SKEW_MS = 30_000;
/** Time for which a token is used without reading the store. Only the store shows whether the session has ended. */
const KEPT_MS = 5_000;
const KEPT_MAX = 20_000;
/** Time until the next refresh for an id_token, if the last refresh has returned no id_token. */
const VAIN_MS = 60_000;
/** Lifetime of the lock. Longer than any refresh can take. */
const LOCK_MS = 20_000;
const LOOK_AGAIN_MS = 100;

/**
 * Returns the person's access token at the provider. undefined if the session has ended or the provider is unknown.
 * Throws a Failure if the state of the session is unknown.
 */
export type FindUpstreamToken = (session: string, provider: string) => Promise<string | undefined>;

/** Creates the function that finds tokens. Concurrent calls share one refresh. */
export function createUpstreamTokens(world: IssuerWorld): FindUpstreamToken {
  const { kept } = world;
  const { clock } = world.ports;
  const pending = new Map<string, Promise<string | undefined>>();

  async function load(key: string, session: string, upstream: Upstream): Promise<string | undefined> {
    const tokens = await currentTokens(world, session, upstream);
    if (tokens === undefined) kept.delete(key);
    else {
      const leftMs = tokens.isExpiryAssumed ? KEPT_MS : tokens.expiresAtMs - clock.now();
      const until = clock.monotonic() + Math.min(KEPT_MS, leftMs);
      setBounded(kept, key, { token: tokens.accessToken, until }, KEPT_MAX);
    }
    return tokens?.accessToken;
  }

  return async function findUpstreamToken(session, provider) {
    const upstream = world.upstreams.find(({ name }) => name === provider);
    if (upstream === undefined) return undefined;
    const key = upstreamContext(session, provider);
    const known = kept.get(key);
    if (known !== undefined && clock.monotonic() < known.until) return known.token;
    const waiting = pending.get(key) ?? load(key, session, upstream).finally(() => pending.delete(key));
    pending.set(key, waiting);
    return waiting;
  };
}

/**
 * Creates a function that finds the id_token of the person's login at the provider, and refreshes an id_token that is
 * about to expire. Returns undefined if no valid id_token exists. Throws a Failure like `FindUpstreamToken`.
 */
export function createUpstreamIdTokens(world: IssuerWorld): FindUpstreamToken {
  const { clock } = world.ports;
  const pending = new Map<string, Promise<string | undefined>>();
  /**
   * Monotonic time until which no refresh is tried, by session and provider. Contains providers that returned no new
   * id_token.
   */
  const vain = new Map<string, number>();

  async function load(key: string, session: string, upstream: Upstream): Promise<string | undefined> {
    const known = await currentTokens(world, session, upstream);
    if (known === undefined || hasFreshIdToken(world, known)) return known?.idToken;
    if ((vain.get(key) ?? 0) > clock.monotonic()) return undefined;
    const refreshed = await currentTokens(world, session, upstream, (tokens) => !hasFreshIdToken(world, tokens));
    if (refreshed !== undefined && hasFreshIdToken(world, refreshed)) return refreshed.idToken;
    setBounded(vain, key, clock.monotonic() + VAIN_MS, KEPT_MAX);
    return undefined;
  }

  return async function findUpstreamIdToken(session, provider) {
    const upstream = world.upstreams.find(({ name }) => name === provider);
    if (upstream === undefined) return undefined;
    const key = upstreamContext(session, provider);
    const waiting = pending.get(key) ?? load(key, session, upstream).finally(() => pending.delete(key));
    pending.set(key, waiting);
    return waiting;
  };
}

function hasFreshIdToken({ ports }: IssuerWorld, { idToken }: UpstreamTokens): boolean {
  // The signature was verified when the provider sent the id_token.
  const exp = idToken === undefined ? undefined : decodeJwt(idToken).exp;
  return exp !== undefined && exp * 1000 - ports.clock.now() > SKEW_MS;
}

/**
 * Returns unexpired tokens, and refreshes tokens that are about to expire. Also refreshes tokens for which `isOld`
 * returns true.
 */
async function currentTokens(
  world: IssuerWorld,
  session: string,
  upstream: Upstream,
  isOld: (tokens: UpstreamTokens) => boolean = () => false,
): Promise<UpstreamTokens | undefined> {
  const { clock, store } = world.ports;
  const key = KEYS.upstream(session, upstream.name);
  const lock = KEYS.upstreamLock(session, upstream.name);
  for (;;) {
    const sealed = await store.get(key);
    const tokens = sealed === undefined ? undefined : openTokens(world, session, upstream.name, sealed);
    if (sealed === undefined || tokens === undefined) return undefined;
    const leftMs = tokens.expiresAtMs - clock.now();
    const isDue = leftMs <= SKEW_MS || isOld(tokens);
    if (!isDue || (tokens.refreshToken === undefined && isUsable(tokens, leftMs))) return tokens;
    if (tokens.refreshToken === undefined) return endUsedUp(world, session, upstream.name);
    if (await store.add(lock, '1', LOCK_MS)) {
      try {
        return await refreshOnce(world, session, upstream, { sealed, tokens });
      } finally {
        await store.delete([lock]);
      }
    }
    // Another call has the lock and refreshes the token.
    await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
  }
}

function isUsable({ isExpiryAssumed }: UpstreamTokens, leftMs: number): boolean {
  return isExpiryAssumed || leftMs > 0;
}

function openTokens(
  { secrets }: IssuerWorld,
  session: string,
  provider: string,
  sealed: string,
): UpstreamTokens | undefined {
  const text = secrets.unseal('upstream tokens', upstreamContext(session, provider), sealed);
  if (text === undefined) return undefined;
  const tokens: UpstreamTokens = JSON.parse(text);
  return tokens;
}

async function refreshOnce(
  world: IssuerWorld,
  session: string,
  upstream: Upstream,
  { sealed, tokens }: { readonly sealed: string; readonly tokens: UpstreamTokens },
): Promise<UpstreamTokens | undefined> {
  const { ports, secrets } = world;
  const key = KEYS.upstream(session, upstream.name);
  // The previous owner of the lock may have refreshed the token.
  const current = await ports.store.get(key);
  if (current !== sealed) return current === undefined ? undefined : openTokens(world, session, upstream.name, current);
  try {
    const fresh = await upstream.refresh(tokens);
    const next = secrets.seal('upstream tokens', upstreamContext(session, upstream.name), JSON.stringify(fresh));
    return (await ports.store.replace(key, sealed, next, sessionMs(world))) ? fresh : undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    ports.notify({
      code: 'issuer-upstream-refused',
      level: 'warn',
      message: error.message,
      data: { ...error.data, cause: error.code },
    });
    const leftMs = tokens.expiresAtMs - ports.clock.now();
    if (error.code === 'issuer-upstream-unavailable' && isUsable(tokens, leftMs)) return tokens;
    if (error.retryable) throw error;
    return endUsedUp(world, session, upstream.name);
  }
}

async function endUsedUp(world: IssuerWorld, session: string, provider: string): Promise<undefined> {
  await endSession(world, session, `the token of ${provider} has expired and cannot be refreshed`);
  return undefined;
}

/** Ends the session. Issued access tokens stay valid until they expire. */
export async function endSession({ ports, upstreams, kept }: IssuerWorld, session: string, why: string): Promise<void> {
  ports.notify({ code: 'issuer-session-ended', level: 'info', message: `a session was ended: ${why}`, data: {} });
  for (const { name } of upstreams) kept.delete(upstreamContext(session, name));
  await ports.store.delete([KEYS.grant(session), ...upstreams.map(({ name }) => KEYS.upstream(session, name))]);
}

/**
 * Extends the lifetime of the session's stored tokens to the lifetime of the new refresh token. Returns false if the
 * tokens of a provider are missing. The session cannot continue in this case.
 */
export async function keepSession(world: IssuerWorld, session: string): Promise<boolean> {
  const { store } = world.ports;
  for (const { name } of world.upstreams) {
    const key = KEYS.upstream(session, name);
    const sealed = await store.get(key);
    const tokens = sealed === undefined ? undefined : openTokens(world, session, name, sealed);
    if (sealed === undefined || tokens === undefined) return false;
    // Seals the tokens with the current secret. The previous secret can be removed once the refresh tokens that it
    // protects have expired.
    const next = world.secrets.seal('upstream tokens', upstreamContext(session, name), JSON.stringify(tokens));
    // If `replace` fails, another call has just written the tokens with the same lifetime.
    await store.replace(key, sealed, next, sessionMs(world));
  }
  return true;
}
