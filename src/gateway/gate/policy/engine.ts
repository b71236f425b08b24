// Runs the Cedar engine, a WebAssembly module that is loaded with the first policies. Keeps parsed policy sets, and
// loads the module again after a call has damaged it.

import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';

type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');
type CedarCall = Parameters<Cedar['statefulIsAuthorized']>[0];
type Failed = readonly { readonly message: string }[];

/** Policies that are evaluated together, by their ids. The engine parses each set once. */
export interface PolicySet {
  readonly policies: Readonly<Record<string, string>>;
}

export type EngineCall = Pick<CedarCall, 'principal' | 'action' | 'resource' | 'context' | 'entities'>;

/** `detail` is for the operator, and contains no values of the call. */
export type EngineAnswer =
  | { readonly kind: 'allow' }
  /** `by` lists the policies that forbid the call. Empty if no policy permits the call. */
  | { readonly kind: 'deny'; readonly by: readonly string[] }
  | { readonly kind: 'error'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string };

export interface Engine {
  /** Evaluates the policies. Allows a call only if no policy fails with an error. */
  authorize(set: PolicySet, call: EngineCall): EngineAnswer;
  /**
   * Calls `question` with the engine. Returns undefined if the call damaged the module, usually because of deep
   * nesting.
   */
  askParser<T>(question: (cedar: Cedar) => T): T | undefined;
}

const MODULE = '@cedar-policy/cedar-wasm/nodejs';
/** Maximum number of sets in one instance. Sets can be replaced, but not deleted. */
const SLOTS = 1024;
/**
 * Maximum number of instances that a set may damage before the engine refuses the set. Each new instance costs about
 * 0.1 s.
 */
const FAULTS_MAX = 3;

/**
 * With V8's default budget (13 million), V8 recompiles code that only runs while the engine starts. This takes 40 ms
 * and 16 MiB.
 */
const CALM_TIERING = '--wasm-tiering-budget=50000000';

const ALLOW: EngineAnswer = { kind: 'allow' };

const require = createRequire(import.meta.url);

/** The only engine of the process, because an instance takes 25 MiB. */
export const engine: Engine = createEngine();

export function createEngine(): Engine {
  let cedar: Cedar | undefined;
  let slots: (PolicySet | undefined)[] = [];
  let nextSlot = 0;
  const slotOf = new WeakMap<PolicySet, number>();
  const faults = new WeakMap<PolicySet, number>();

  /** Parses the set if the instance does not have it. Returns the id of the set, or undefined if parsing fails. */
  function prepare(instance: Cedar, set: PolicySet): string | undefined {
    const known = slotOf.get(set);
    if (known !== undefined && slots[known] === set) return String(known);
    const slot = nextSlot;
    nextSlot = (slot + 1) % SLOTS;
    slots[slot] = undefined;
    const { type } = instance.preparsePolicySet(String(slot), { staticPolicies: { ...set.policies } });
    if (type === 'failure') return undefined;
    slots[slot] = set;
    slotOf.set(set, slot);
    return String(slot);
  }

  /** Drops the instance, because an error that passes through WebAssembly does not restore the module's stack. */
  function damaged(): undefined {
    cedar = undefined;
    slots = [];
  }

  function askParser<T>(question: (instance: Cedar) => T): T | undefined {
    try {
      cedar ??= loadCedar();
      return question(cedar);
    } catch {
      return damaged();
    }
  }

  function authorize(set: PolicySet, call: EngineCall): EngineAnswer {
    const faultsBefore = faults.get(set) ?? 0;
    if (faultsBefore >= FAULTS_MAX) return { kind: 'failed', detail: 'the policies damaged the engine before' };
    const answer = askParser((instance) => {
      const preparsedPolicySetId = prepare(instance, set);
      if (preparsedPolicySetId === undefined) return { kind: 'failed', detail: 'the policies were refused' } as const;
      const said = instance.statefulIsAuthorized({ ...call, preparsedPolicySetId });
      return said.type === 'success' ? decided(said.response) : refusedCall(said.errors);
    });
    if (answer !== undefined) return answer;
    faults.set(set, faultsBefore + 1);
    return { kind: 'failed', detail: 'the engine was damaged, most likely by a policy that is nested too deeply' };
  }

  return { askParser, authorize };
}

/**
 * Loads a separate instance of the Cedar module. Damage does not spread between this instance and instances of other
 * code.
 */
function loadCedar(): Cedar {
  setFlagsFromString(CALM_TIERING);
  const path = require.resolve(MODULE);
  delete require.cache[path];
  const instance: Cedar = require(MODULE);
  delete require.cache[path];
  return instance;
}

interface Response {
  readonly decision: 'allow' | 'deny';
  readonly diagnostics: {
    /** Ids of the policies that caused the decision. */
    readonly reason: readonly string[];
    readonly errors: readonly { readonly policyId: string; readonly error: { readonly message: string } }[];
  };
}

function decided({ decision, diagnostics: { errors, reason } }: Response): EngineAnswer {
  if (errors.length === 0) return decision === 'allow' ? ALLOW : { kind: 'deny', by: reason.toSorted() };
  const details = errors.map(({ policyId, error }) => `${policyId}: ${cause(error.message)}`);
  return { kind: 'error', detail: details.slice(0, 5).join('; ') };
}

/** Reports a request that the engine refused, because of a bug or a limit of the engine. */
function refusedCall(errors: Failed): EngineAnswer {
  return { kind: 'failed', detail: cause(errors[0]?.message ?? '') };
}

/**
 * Error messages of the engine that contain only words of the policy. All other messages could quote an argument or a
 * claim.
 */
const CAUSES = [
  /^record does not have the attribute `[^`]*`$/,
  /^`[^`]*` does not have the attribute `[^`]*`$/,
  /^type error: expected [a-z ,]+, got [a-z ]+$/,
  /recursion limit/,
];

function cause(message: string): string {
  const known = CAUSES.some((pattern) => pattern.test(message));
  return known ? message : 'it could not be evaluated';
}
