// Whether policies refuse a call only because of the scopes of its token, and which more it would take.

import { scopesOf } from '#auth/identity.ts';
import type { JsonObject } from '#std/json.ts';
import type { GateCode } from '../codes.ts';
import type { Policies } from './decide.ts';
import { decideMessage, methodRule, type PolicyCall } from './methods.ts';

/** More than these are not tried out. */
const SCOPES_MAX = 32;
/** Bytes of arguments, and targets, in all decisions about one call: each is a question to the engine, on the event loop. */
const ARGUMENT_BYTES_MAX = 16 * 1024;
const TARGETS_MAX = 320;

/** A policy that reads a claim that is absent is in error: the token may have no scopes at all. */
const ABOUT_CLAIMS: readonly GateCode[] = ['policy-denied', 'policy-error'];

/**
 * All scopes that a token has to have for a call that was refused with `code`, in the order of `supported`: those that it has,
 * so that a client does not lose them, and the fewest more: of a call that is costly to decide, perhaps some too many. Undefined
 * if no scope would help.
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

/** The claims of a token of the same provider with these scopes: where it has them, and written as it writes them. */
function withScopes(claims: JsonObject, scopes: readonly string[]): JsonObject {
  const names = ['scope', 'scp'].filter((name) => Object.hasOwn(claims, name));
  const written = (names.length === 0 ? ['scope'] : names).map((name) => [
    name,
    Array.isArray(claims[name]) ? [...scopes] : scopes.join(' '),
  ]);
  return { ...claims, ...Object.fromEntries(written) };
}
