// Implements comprehensions over two variables: index and item of a list, key and value of a map. Source: cel-go
// ext/comprehensions.

import type { ASTNode, TypeDeclaration } from '@marcbachmann/cel-js';
import { equals } from '../equality.ts';
import { fail } from './library.ts';
import {
  type Binding,
  bind,
  type Checker,
  type Evaluator,
  innermost,
  type MacroCall,
  type MacroScope,
  runWith,
  variableName,
} from './macro-scope.ts';

/** Returns the names and types of the two variables: key (or index) and value. */
function variables(checker: Checker, { args, receiver }: MacroCall, scope: MacroScope): [string, TypeDeclaration][] {
  const range = checker.check(receiver, scope);
  const names = [variableName(args[0]), variableName(args[1])] as const;
  const dyn = checker.getType('dyn');
  switch (range.kind) {
    case 'list':
      return [
        [names[0], checker.getType('int')],
        [names[1], range.valueType ?? dyn],
      ];
    case 'map':
      return [
        [names[0], range.keyType ?? dyn],
        [names[1], range.valueType ?? dyn],
      ];
    case 'dyn':
      return [
        [names[0], dyn],
        [names[1], dyn],
      ];
    default:
      throw checker.createError('invalid_range', `${range.name} cannot be the range of a comprehension`, receiver);
  }
}

function entriesOf(range: unknown): [unknown, unknown][] {
  if (range instanceof Map) return [...range];
  if (Array.isArray(range) || range instanceof Set) return [...range].map((item, index) => [BigInt(index), item]);
  if (typeof range === 'object' && range !== null) return Object.entries(range);
  return fail('the range of a comprehension must be a list or a map');
}

interface Comprehension<State> {
  readonly start: () => State;
  /** Processes one entry. undefined continues the loop. Any other value ends the loop and is its result. */
  readonly step: (state: State, run: (node: number) => unknown, entry: [unknown, unknown]) => unknown;
  readonly end: (state: State) => unknown;
  readonly type: (checker: Checker, types: readonly TypeDeclaration[], keys: TypeDeclaration) => TypeDeclaration;
  /** Indices of the arguments that must be of type bool. */
  readonly conditions: readonly number[];
}

function twoVariables<State>(comprehension: Comprehension<State>) {
  return (call: MacroCall) => {
    const binding: Binding = { scopes: [] };
    return {
      async: false,
      typeCheck(checker: Checker, _macro: unknown, scope: MacroScope): TypeDeclaration {
        const bound = variables(checker, call, scope);
        binding.scopes = bind(scope, bound).scopes;
        const types = call.args.slice(2).map((node) => checker.check(node, innermost(binding, scope)));
        for (const index of comprehension.conditions) mustBeBool(checker, types[index], call.args[index + 2]);
        return comprehension.type(checker, types, bound[0]?.[1] ?? checker.getType('dyn'));
      },
      evaluate(evaluator: Evaluator, _macro: unknown, scope: MacroScope): unknown {
        const state = comprehension.start();
        for (const entry of entriesOf(evaluator.run(call.receiver, scope))) {
          const run = (node: number): unknown => {
            const argument = call.args[node + 2];
            return argument === undefined ? undefined : runWith(evaluator, binding, scope, argument, entry);
          };
          const answer = comprehension.step(state, run, entry);
          if (answer !== undefined) return answer;
        }
        return comprehension.end(state);
      },
    };
  };
}

function mustBeBool(checker: Checker, type: TypeDeclaration | undefined, node: ASTNode | undefined): void {
  if (type === undefined || node === undefined || type.isDynOrBool()) return;
  throw checker.createError('invalid_predicate', `the predicate must be a bool, not ${type.name}`, node);
}

const bool = (checker: Checker): TypeDeclaration => checker.getType('bool');

/**
 * Builds a quantifier that ends at the first item with the result `decisive`. If no item has this result, the first
 * error is thrown.
 */
export function quantifier(decisive: boolean) {
  return twoVariables<{ error?: unknown }>({
    start: () => ({}),
    step(state, run) {
      try {
        return run(0) === decisive ? decisive : undefined;
      } catch (error) {
        state.error ??= error;
        return undefined;
      }
    },
    end({ error }) {
      if (error !== undefined) throw error;
      return !decisive;
    },
    type: bool,
    conditions: [0],
  });
}

export const existsOne = twoVariables<{ count: number }>({
  start: () => ({ count: 0 }),
  step(state, run) {
    if (run(0) === true) state.count++;
    return undefined;
  },
  end: ({ count }) => count === 1,
  type: bool,
  conditions: [0],
});

export function transformList(filtered: boolean) {
  return twoVariables<unknown[]>({
    start: () => [],
    step(state, run) {
      if (!filtered || run(0) === true) state.push(run(filtered ? 1 : 0));
      return undefined;
    },
    end: (state) => state,
    type: (checker, types) => checker.getType(`list<${types[filtered ? 1 : 0]?.name ?? 'dyn'}>`),
    conditions: filtered ? [0] : [],
  });
}

export function transformMap(filtered: boolean) {
  return twoVariables<Map<unknown, unknown>>({
    start: () => new Map(),
    step(state, run, [key]) {
      if (!filtered || run(0) === true) state.set(key, run(filtered ? 1 : 0));
      return undefined;
    },
    end: (state) => state,
    type: (checker, types, keys) => checker.getType(`map<${keys.name}, ${types[filtered ? 1 : 0]?.name ?? 'dyn'}>`),
    conditions: filtered ? [0] : [],
  });
}

export function transformMapEntry(filtered: boolean) {
  return twoVariables<Map<unknown, unknown>>({
    start: () => new Map(),
    step(state, run) {
      if (filtered && run(0) !== true) return undefined;
      for (const [key, value] of entriesOf(run(filtered ? 1 : 0))) {
        if ([...state.keys()].some((known) => equals(known, key)))
          fail(`insert failed: key ${String(key)} already exists`);
        state.set(key, value);
      }
      return undefined;
    },
    end: (state) => state,
    type: (_, types) => types[filtered ? 1 : 0] ?? fail('transformMapEntry needs an entry'),
    conditions: filtered ? [0] : [],
  });
}
