// Compiles policies from texts and evaluates calls, for tests of the gate.

import type { GroupFields } from '#contracts/authz-config.ts';
import { compilePolicies } from '#gateway/gate/policy/compile.ts';
import type { CallDecision, Policies } from '#gateway/gate/policy/decide.ts';
import type { PolicyAction, ToolHints } from '#gateway/gate/policy/request.ts';
import type { JsonObject } from '#std/json.ts';

export function policiesOf(policies: readonly string[], entities?: unknown, groups: GroupFields = {}): Policies {
  const entities_json = entities === undefined ? undefined : JSON.stringify(entities);
  const compiled = compilePolicies({
    version: '1.0',
    type: 'cedarv1',
    cedar: { policies: [...policies], entities_json, ...groups },
  });
  if (!compiled.ok) throw new Error(compiled.faults.map(({ message }) => message).join('\n'));
  return compiled.policies;
}

export interface Asked {
  readonly action?: PolicyAction;
  readonly name?: string;
  readonly claims?: JsonObject;
  readonly hints?: ToolHints;
  /** Arguments of the call, as an object or as JSON text. */
  readonly args?: JsonObject | string;
}

/** Evaluates a call. By default, alice calls the tool `weather`. */
export function decide(policies: Policies, asked: Asked = {}): CallDecision {
  const { action = 'call_tool', name = 'weather', claims = { sub: 'alice' }, hints = {}, args } = asked;
  const body = Buffer.from(typeof args === 'string' ? args : JSON.stringify(args ?? {}));
  const given = args === undefined ? undefined : { body, span: { start: 0, end: body.length } };
  return policies.decide({ action, name, claims, hints, arguments: given });
}

/** Returns `allowed`, or the code of the denial. */
export function outcome(decision: CallDecision): string {
  return decision.allowed ? 'allowed' : decision.denial.code;
}
