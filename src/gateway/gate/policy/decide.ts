// Decides calls by compiled policies. A call is allowed only if Cedar allows it and no policy fails with an error.
// Caches decisions for arguments that the policies cannot distinguish.

import { setBounded } from '#std/bounded.ts';
import type { JsonObject } from '#std/json.ts';
import type { Span } from '../../wire/message.ts';
import type { Denial, GateCode } from '../codes.ts';
import { type ReadArguments, readArguments } from './arguments.ts';
import { type Attributes, addArguments, type IndexedArguments, NO_ARGUMENTS } from './attributes.ts';
import { addClaims, type PolicyCaller, policyCaller } from './caller.ts';
import { comparedKey } from './comparisons.ts';
import { type EngineAnswer, type EngineCall, engine } from './engine.ts';
import { type Entities, mergeEntities, type RequestEntity } from './entities.ts';
import type { GroupSource } from './groups.ts';
import { allPlans, namesOfClaims, type Plan, type Plans } from './plan.ts';
import { type Names, someName } from './reads.ts';
import { ACTION_WORDS, HINTS, type PolicyRequest, resourceId, type ToolHints } from './request.ts';

export type CallDecision =
  | { readonly allowed: true }
  /** `detail` is for the operator, and contains no values of the call. */
  | { readonly allowed: false; readonly denial: Denial; readonly detail?: string };

export interface Policies {
  /** Digest of policies and entities. */
  readonly digest: string;
  decide(request: PolicyRequest): CallDecision;
  /** True if a policy reads hints of tools. The gateway then needs the hints before the first call. */
  readonly readsHints: boolean;
  /** True if a policy reads arguments. Arguments are only parsed for calls that such a policy can decide. */
  readonly readsArguments: boolean;
  /** True if a policy reads the scopes of a token. */
  readonly readsScopes: boolean;
  /** Provider whose token has the claims that policies read. undefined for the token that the caller sent. */
  readonly upstreamProvider: string | undefined;
}

type Decided = Omit<Policies, 'upstreamProvider'>;

/** Maximum number of cached decisions. NAME_MAX is the maximum length of the name or URI in a cached decision. */
const REMEMBERED_MAX = 20_000;
const NAME_MAX = 512;
/** Maximum length of a name or URI, because the engine reads each character on the event loop. */
const NAME_SHOWN_MAX = 64 * 1024;

const ALLOWED: CallDecision = { allowed: true };
const DENIED_TEXT = 'Unauthorized: no policy permits this.';
const DENIED = denied('policy-denied', DENIED_TEXT);
const UNKNOWN_CALLER = denied('policy-caller-unknown', 'Unauthorized: the caller has no subject.');
const UNKNOWN_HINTS = denied(
  'policy-hints-unknown',
  'Unauthorized: policies read hints of tools, and the list of the MCP server does not have this tool.',
);
const AMBIGUOUS: CallDecision = {
  allowed: false,
  denial: {
    httpStatus: 400,
    rpcCode: -32602,
    code: 'policy-arguments-ambiguous',
    message: 'The arguments contain a key twice, or a key that differs from its declared name in letter case.',
  },
};
const TOO_LARGE: CallDecision = {
  allowed: false,
  denial: {
    httpStatus: 400,
    rpcCode: -32602,
    code: 'policy-arguments-ambiguous',
    message:
      'The arguments are too large for a decision: policies read at most 1,000 values and 64 KiB of each argument.',
  },
};

const NAME_TOO_LONG = denied(
  'policy-denied',
  'Unauthorized: policies decide on names and URIs of at most 65,536 characters.',
);

function denied(code: GateCode, message: string, detail?: string): CallDecision {
  return { allowed: false, denial: { httpStatus: 403, rpcCode: 403, code, message }, detail };
}

/** Creates the policies. `groups` is undefined if no policy or entity contains the entity type of groups. */
export function createPolicies(plans: Plans, entities: Entities, digest: string, groups?: GroupSource): Decided {
  const all = allPlans(plans);
  const claimNames = namesOfClaims(all);
  const callers = new WeakMap<JsonObject, PolicyCaller>();
  const remembered = new Map<string, CallDecision>();
  // Arguments, maybe megabytes, are parsed once, even if a call is decided several times to find missing scopes.
  const read = new WeakMap<Span, { readonly names: Names; readonly args: ReadArguments }>();

  function argumentsOf({ arguments: given }: PolicyRequest, names: Names): ReadArguments {
    if (given === undefined) return NO_ARGUMENTS;
    const known = read.get(given.span);
    if (known?.names === names) return known.args;
    const args = readArguments(given, names);
    read.set(given.span, { names, args });
    return args;
  }

  function callerOf(claims: JsonObject): PolicyCaller | undefined {
    const known = callers.get(claims);
    if (known !== undefined) return known;
    const caller = policyCaller(claims, claimNames, groups);
    if (caller !== undefined) callers.set(claims, caller);
    return caller;
  }

  function decide(request: PolicyRequest): CallDecision {
    const { action, name, hints } = request;
    if (name.length > NAME_SHOWN_MAX) return NAME_TOO_LONG;
    const id = resourceId(action, name);
    const { general, named } = plans[action];
    const plan = named.get(id) ?? general;
    if (!plan.permits) return DENIED;
    const caller = callerOf(request.claims);
    if (caller === undefined) return UNKNOWN_CALLER;
    if (!name.isWellFormed()) return DENIED;
    if (action === 'call_tool' && plan.readsHints && hints === undefined) return UNKNOWN_HINTS;
    const args = plan.readsArguments ? argumentsOf(request, plan.argumentNames) : NO_ARGUMENTS;
    if (args === 'ambiguous') return AMBIGUOUS;
    if (args === 'too-large') return TOO_LARGE;
    const asked = { plan, request, id, caller, args };
    const compared = name.length > NAME_MAX ? undefined : argumentsKey(asked);
    if (compared === undefined) return askEngine(asked, entities);
    const key = `${action.charAt(0)}${caller.key}${plan.readsHints ? hintsKey(hints) : ''}${compared}|${name}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const decision = askEngine(asked, entities);
    if (!isPassing(decision)) setBounded(remembered, key, decision, REMEMBERED_MAX);
    return decision;
  }

  return {
    digest,
    decide,
    readsHints: all.some(({ readsHints }) => readsHints),
    readsArguments: all.some(({ readsArguments }) => readsArguments),
    readsScopes: someName(claimNames, (name) => name === 'claim_scope' || name === 'claim_scp'),
  };
}

/** Returns true for a decision that must not be cached, because a failed engine may work at the next call. */
function isPassing(decision: CallDecision): boolean {
  return !decision.allowed && decision.denial.code === 'policy-engine-failed';
}

/** Returns a key of fixed length, which therefore cannot be confused with a name. */
function hintsKey(hints: ToolHints | undefined): string {
  return HINTS.map((hint) => (hints?.[hint] === undefined ? '-' : hints[hint] ? '1' : '0')).join('');
}

interface PolicyInput {
  readonly plan: Plan;
  readonly request: PolicyRequest;
  readonly id: string;
  readonly caller: PolicyCaller;
  readonly args: IndexedArguments;
}

/** Returns a key that is equal for calls with the same decision. undefined if the decision cannot be cached. */
function argumentsKey({ plan, request, caller, args }: PolicyInput): string | undefined {
  if (!plan.readsArguments || request.arguments === undefined) return '';
  if (plan.comparisons === undefined) return undefined;
  const read: Attributes = {};
  const built = addArguments(args, plan.argumentNames, read);
  return built === 'complete' ? comparedKey(plan.comparisons, read, caller.claims) : undefined;
}

function askEngine(asked: PolicyInput, entities: Entities): CallDecision {
  const call = engineCall(asked, entities);
  if (call === 'ambiguous') return AMBIGUOUS;
  if (call === 'unknown-groups')
    return failedPolicy('the groups of the caller are not in the token, or not a list of texts');
  if (call === 'inexpressible')
    return failedPolicy('a claim or an argument that it reads cannot be expressed in Cedar');
  return decisionOf(engine.authorize(asked.plan.set, call));
}

function decisionOf(answer: EngineAnswer): CallDecision {
  switch (answer.kind) {
    case 'allow':
      return ALLOWED;
    case 'deny':
      // The client must not learn the id of the policy.
      return answer.by.length === 0
        ? DENIED
        : denied('policy-denied', DENIED_TEXT, `forbidden by ${answer.by.slice(0, 5).join(', ')}`);
    case 'error':
      return failedPolicy(answer.detail);
    case 'failed':
      return denied('policy-engine-failed', 'Unauthorized: the policy engine failed.', answer.detail);
  }
}

function failedPolicy(detail: string): CallDecision {
  return denied('policy-error', 'Unauthorized: a policy could not be evaluated.', detail);
}

type Inexpressible = 'ambiguous' | 'inexpressible' | 'unknown-groups';

/** Builds the engine's call. The call contains only data that the plan's policies read. */
function engineCall({ plan, request, id, caller, args }: PolicyInput, entities: Entities): EngineCall | Inexpressible {
  const { reads } = plan;
  const words = ACTION_WORDS[request.action];
  const parents = plan.readsGroups ? caller.groups : [];
  if (parents === undefined) return 'unknown-groups';
  const context: Attributes = {};
  const ofPrincipal: Attributes = {};
  const ofResource = resourceAttributes(request, id, reads.resource);
  if (!addClaims(caller, reads.context, context) || !addClaims(caller, reads.principal, ofPrincipal)) {
    return 'inexpressible';
  }
  for (const [names, to] of [
    [reads.context, context],
    [reads.resource, ofResource],
  ] as const) {
    const built = addArguments(args, names, to);
    if (built !== 'complete') return built;
  }
  const principal = { type: 'Client', id: caller.subject };
  const action = { type: 'Action', id: request.action };
  const resource = { type: words.type, id };
  const own: RequestEntity[] = [];
  const isInGroups = parents.length > 0;
  if (isInGroups || looksAt(plan, reads.principal)) own.push({ uid: principal, attrs: ofPrincipal, parents });
  if (looksAt(plan, reads.action)) own.push({ uid: action, attrs: { operation: words.operation } });
  if (looksAt(plan, reads.resource)) own.push({ uid: resource, attrs: ofResource });
  const merged = own.length === 0 ? [] : mergeEntities(entities, own, plan.readsEntities);
  return { principal, action, resource, context, entities: merged };
}

/** Returns whether policies read attributes of the entity, or other entities of the policy file. */
function looksAt({ readsEntities }: Plan, names: Names): boolean {
  return readsEntities || names === 'all' || names.size > 0;
}

function resourceAttributes({ action, name, hints }: PolicyRequest, id: string, names: Names): Attributes {
  if (names !== 'all' && names.size === 0) return {};
  const { operation, feature } = ACTION_WORDS[action];
  const attributes: Attributes = { name: id, operation, feature };
  if (action === 'read_resource') attributes.uri = name;
  if (action !== 'call_tool' || hints === undefined) return attributes;
  for (const hint of HINTS) {
    const value = hints[hint];
    if (value !== undefined) attributes[hint] = value;
  }
  return attributes;
}
