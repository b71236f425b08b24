// Finds out whether policies refuse a call only because the token lacks scopes, and which scopes are missing.

import { scopesOf } from '#auth/identity.ts';
import type { JsonObject } from '#std/json.ts';
import type { GateCode } from '../codes.ts';
import type { Policies } from './decide.ts';
import { decideMessage, methodRule, type PolicyCall } from './methods.ts';

/** Maximum number of additional scopes that are tried. */
const SCOPES_MAX = 32;
/**
 * Limits of argument bytes and targets for all decisions about one call together, because each decision runs the engine
 * on the event loop.
 */
const ARGUMENT_BYTES_MAX = 16 * 1024;
const TARGETS_MAX = 320;

/**
 * Codes of refusals that additional scopes may prevent. `policy-error` is included, because a policy that reads the
 * scopes of a token without scopes fails with an error.
 */
const ABOUT_CLAIMS: readonly GateCode[] = ['policy-denied', 'policy-error'];

/**
 * Returns all scopes that a token needs for a call that was refused with `code`, in the order of `supported`. The
 * result contains the supported scopes of the current token, and additional scopes of which none can be left out. If
 * deciding the call is costly, the result may contain unnecessary scopes. Returns undefined if no scope helps.
 */
export function scopesForCall(
  policies: Policies,
  call: PolicyCall,
  code: GateCode,
  supported: readonly string[],
): readonly string[] | undefined {
  if (!policies.readsScopes || !ABOUT_CLAIMS.includes(code)) return undefined;
  const granted = new Set(scopesOf(call.claims));
  const permits = (scopes: readonly string[]) =>
    decideMessage(policies, { ...call, claims: withScopes(call.claims, [...new Set([...granted, ...scopes])]) })
      .allowed;
  let needed = supported.filter((scope) => !granted.has(scope)).slice(0, SCOPES_MAX);
  if (needed.length === 0 || !permits(needed)) return undefined;
  for (const scope of needed.slice(0, triesFor(call))) {
    const fewer = needed.filter((other) => other !== scope);
    if (fewer.length > 0 && permits(fewer)) needed = fewer;
  }
  return supported.filter((scope) => granted.has(scope) || needed.includes(scope));
}

function triesFor({ body, message }: PolicyCall): number {
  const span = message.kind === 'request' ? message.arguments : undefined;
  const bytes = span === undefined ? 0 : span.end - span.start;
  const rule = methodRule(body, message);
  const targets = rule.kind === 'decided' ? rule.targets.length : 1;
  return Math.floor(Math.min(SCOPES_MAX, ARGUMENT_BYTES_MAX / Math.max(bytes, 1), TARGETS_MAX / Math.max(targets, 1)));
}

/**
 * Returns the claims with other scopes. The claims that contain scopes keep their names and their form (text or list).
 */
function withScopes(claims: JsonObject, scopes: readonly string[]): JsonObject {
  const names = ['scope', 'scp'].filter((name) => Object.hasOwn(claims, name));
  const written = (names.length === 0 ? ['scope'] : names).map((name) => [
    name,
    Array.isArray(claims[name]) ? [...scopes] : scopes.join(' '),
  ]);
  return { ...claims, ...Object.fromEntries(written) };
}
