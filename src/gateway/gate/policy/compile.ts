// Compiles a policy file, or reports its faults.

import type { EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import { type AuthzConfigFile, GROUP_TYPE } from '#contracts/authz-config.ts';
import { entitiesFault, policyFaults } from '#std/cedar.ts';
import { sha256 } from '#std/hash.ts';
import type { GateCode } from '../codes.ts';
import { createPolicies, type Policies } from './decide.ts';
import { engine } from './engine.ts';
import { type Entities, indexEntities } from './entities.ts';
import { parseExactly } from './exact-json.ts';
import type { GroupSource } from './groups.ts';
import { type Policy, planPolicies } from './plan.ts';

interface PolicyFault {
  readonly code: Extract<GateCode, 'policy-file-invalid' | 'policy-entities-invalid'>;
  /** Sentence for the operator that names the policy, the position and the fault. */
  readonly message: string;
}

export type CompiledPolicies =
  | { readonly ok: true; readonly policies: Policies }
  | { readonly ok: false; readonly faults: readonly PolicyFault[] };

/** Compiles policies. The first call loads the engine, which takes about 0.1 s. */
export function compilePolicies(file: AuthzConfigFile): CompiledPolicies {
  return compileSome(file, (policies) => policies);
}

/** Compiles policies for tools that need no permit. Only the `forbid` policies of the file apply to these tools. */
export function compileForbids(file: AuthzConfigFile, tools: readonly string[]): CompiledPolicies {
  const permits = tools.flatMap((tool, index): readonly Policy[] => {
    const text = `permit(principal, action == Action::"call_tool", resource == Tool::${JSON.stringify(tool)});`;
    const permit = readPolicy(text, `own${index}`);
    return permit === undefined ? [] : [permit];
  });
  return compileSome(file, (policies) => [...policies.filter(({ json }) => json.effect === 'forbid'), ...permits]);
}

function compileSome(
  { cedar }: AuthzConfigFile,
  choose: (policies: readonly Policy[]) => readonly Policy[],
): CompiledPolicies {
  const entities = readEntities(cedar.entities_json ?? '[]');
  const read = cedar.policies.map(readPolicies);
  const faults = [
    ...read.flatMap((each) => ('faults' in each ? each.faults : [])),
    ...('code' in entities ? [entities] : []),
  ];
  const policies = choose(read.flatMap((each) => ('policies' in each ? each.policies : [])));
  if (faults.length > 0 || 'code' in entities) return { ok: false, faults };
  const plans = planPolicies(policies, entities);
  if (!canEvaluate(policies)) {
    return { ok: false, faults: [policyFault('a policy is nested too deeply to be evaluated')] };
  }
  const digest = sha256(JSON.stringify(cedar));
  const decided = createPolicies(plans, entities, digest, groupSource(cedar, entities));
  return { ok: true, policies: { ...decided, upstreamProvider: cedar.primary_upstream_provider } };
}

/** Returns the source of groups. undefined if no policy or entity contains the entity type of groups. */
function groupSource(cedar: AuthzConfigFile['cedar'], { list }: Entities): GroupSource | undefined {
  const { group_claim_name: groupClaim, role_claim_name: roleClaim, group_entity_type: type = GROUP_TYPE } = cedar;
  const isUsed = [...cedar.policies, JSON.stringify(list)].some((text) => text.includes(type));
  return isUsed ? { type, groupClaim, roleClaim } : undefined;
}

type PoliciesOrFaults = { readonly policies: readonly Policy[] } | { readonly faults: readonly PolicyFault[] };

function readPolicies(text: string, index: number): PoliciesOrFaults {
  const parts = engine.askParser((cedar) => cedar.policySetTextToParts(text));
  const usable = parts?.type === 'success' && parts.policies.length > 0 && parts.policy_templates.length === 0;
  const policies = usable ? parts.policies.map((part, part_) => readPolicy(part, policyId(index, part_))) : [];
  const known = policies.filter((policy) => policy !== undefined);
  if (usable && known.length === policies.length) return { policies: known };
  const faults = policyFaults(text).map(({ line, column, message }) =>
    policyFault(`policy ${index + 1}, line ${line}, column ${column}: ${message}`),
  );
  return { faults: faults.length > 0 ? faults : [policyFault(`policy ${index + 1} is nested too deeply to be read`)] };
}

/**
 * Returns the id of a policy from the index of its text and its position in the text. Most texts contain one policy.
 */
function policyId(index: number, part: number): string {
  return part === 0 ? `policy${index}` : `policy${index}.${part}`;
}

function readPolicy(text: string, id: string): Policy | undefined {
  const answer = engine.askParser((cedar) => cedar.policyToJson(text));
  return answer?.type === 'success' ? { id, text, json: answer.json } : undefined;
}

function readEntities(text: string): Entities | PolicyFault {
  const list = parseList(text);
  // Most files have no entities, and the validation would take as long as all other steps of the compilation.
  if (list?.length === 0) return indexEntities(list);
  const answer =
    list === undefined
      ? undefined
      : engine.askParser((cedar) => cedar.checkParseEntities({ entities: list, schema: null }));
  if (list !== undefined && answer?.type === 'success') return indexEntities(list);
  return { code: 'policy-entities-invalid', message: `entities_json: ${entitiesFault(text) ?? 'cannot be read'}` };
}

function parseList(text: string): EntityJson[] | undefined {
  try {
    const parsed = parseExactly(text);
    // The engine validates the elements of the list.
    return Array.isArray(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Evaluates the policies once, so that policies that damage the engine are found at compile time. */
function canEvaluate(policies: readonly Policy[]): boolean {
  const set = { policies: Object.fromEntries(policies.map(({ id, text }) => [id, text])) };
  const uid = { type: 'Client', id: '' };
  const answer = engine.authorize(set, { principal: uid, action: uid, resource: uid, context: {}, entities: [] });
  return answer.kind !== 'failed';
}

function policyFault(message: string): PolicyFault {
  return { code: 'policy-file-invalid', message };
}
