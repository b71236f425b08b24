// Macros: comprehensions over two variables, sorting by a key, and what to do with an optional value. Knows nothing about
// how expressions are parsed.
// Source: cel-go ext/comprehensions, ext/lists, cel.OptionalTypes.

import { type ASTNode, type Environment, Optional, type TypeDeclaration } from '@marcbachmann/cel-js';
import { equals } from '../equality.ts';
import { fail, itemsOf, OURS } from './library.ts';
import { compare } from './lists.ts';

/** What the engine hands to the two halves of a macro. */
interface Checker {
  check(node: ASTNode, scope: Scope): TypeDeclaration;
  getType(name: string): TypeDeclaration;
  createError(code: string, message: string, node: ASTNode): Error;
  readonly objectTypes: ReadonlyMap<string, { readonly fields?: object }>;
}

interface Evaluator {
  run(node: ASTNode, scope: Scope): unknown;
}

interface Scope {
  forkWithVariable(name: string, type: TypeDeclaration): Scope;
  reuse(parent: Scope): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}

interface Call {
  readonly args: readonly ASTNode[];
  readonly receiver: ASTNode;
}

/** Binds variables, one scope inside the other, and runs a node in the innermost. */
interface Binding {
  scopes: readonly Scope[];
}

function bind(scope: Scope, variables: readonly (readonly [name: string, type: TypeDeclaration])[]): Binding {
  const scopes: Scope[] = [];
  for (const [name, type] of variables) scopes.push((scopes.at(-1) ?? scope).forkWithVariable(name, type));
  return { scopes };
}

function innermost({ scopes }: Binding, outer: Scope): Scope {
  return scopes.at(-1) ?? outer;
}

function runWith(
  evaluator: Evaluator,
  { scopes }: Binding,
  outer: Scope,
  node: ASTNode,
  values: readonly unknown[],
): unknown {
  let scope = outer;
  for (const [index, each] of scopes.entries()) scope = each.reuse(scope).setIterValue(values[index], evaluator);
  return evaluator.run(node, scope);
}

function nameOf(node: ASTNode | undefined): string {
  return node?.op === 'id' ? node.args : fail('the argument must be a simple name');
}

/** Names of the key (or index) and the value of a range, with their types. */
function variables(checker: Checker, { args, receiver }: Call, scope: Scope): [string, TypeDeclaration][] {
  const range = checker.check(receiver, scope);
  const names = [nameOf(args[0]), nameOf(args[1])] as const;
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
  /** Undefined goes on; anything else is the answer. */
  readonly step: (state: State, run: (node: number) => unknown, entry: [unknown, unknown]) => unknown;
  readonly end: (state: State) => unknown;
  readonly type: (checker: Checker, types: readonly TypeDeclaration[], keys: TypeDeclaration) => TypeDeclaration;
  /** Which arguments must be of type bool. */
  readonly conditions: readonly number[];
}

function twoVariables<State>(comprehension: Comprehension<State>) {
  return (call: Call) => {
    const binding: Binding = { scopes: [] };
    return {
      async: false,
      typeCheck(checker: Checker, _macro: unknown, scope: Scope): TypeDeclaration {
        const bound = variables(checker, call, scope);
        binding.scopes = bind(scope, bound).scopes;
        const types = call.args.slice(2).map((node) => checker.check(node, innermost(binding, scope)));
        for (const index of comprehension.conditions) mustBeBool(checker, types[index], call.args[index + 2]);
        return comprehension.type(checker, types, bound[0]?.[1] ?? checker.getType('dyn'));
      },
      evaluate(evaluator: Evaluator, _macro: unknown, scope: Scope): unknown {
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

/** Errors count only where no element decides without them. */
function quantifier(decisive: boolean) {
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

const existsOne = twoVariables<{ count: number }>({
  start: () => ({ count: 0 }),
  step(state, run) {
    if (run(0) === true) state.count++;
    return undefined;
  },
  end: ({ count }) => count === 1,
  type: bool,
  conditions: [0],
});

function transformList(filtered: boolean) {
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

function transformMap(filtered: boolean) {
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

function transformMapEntry(filtered: boolean) {
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

/** `list.sortBy(x, key)` */
function sortBy(call: Call) {
  const binding: Binding = { scopes: [] };
  const [variable, key] = call.args;
  return {
    async: false,
    typeCheck(checker: Checker, _macro: unknown, scope: Scope): TypeDeclaration {
      const list = checker.check(call.receiver, scope);
      binding.scopes = bind(scope, [[nameOf(variable), list.valueType ?? checker.getType('dyn')]]).scopes;
      if (key !== undefined) checker.check(key, innermost(binding, scope));
      return list;
    },
    evaluate(evaluator: Evaluator, _macro: unknown, scope: Scope): unknown {
      const items = itemsOf(evaluator.run(call.receiver, scope) as Iterable<unknown>);
      const keyed = items.map((item) => ({
        item,
        key: (key === undefined ? item : runWith(evaluator, binding, scope, key, [item])) as bigint,
      }));
      return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ item }) => item);
    },
  };
}

/** `optional.optMap(x, expression)`; `flat`: the expression gives an optional itself. */
function optionalMap(flat: boolean) {
  return (call: Call) => {
    const binding: Binding = { scopes: [] };
    const [variable, expression] = call.args;
    return {
      async: false,
      typeCheck(checker: Checker, _macro: unknown, scope: Scope): TypeDeclaration {
        const optional = checker.check(call.receiver, scope);
        binding.scopes = bind(scope, [[nameOf(variable), optional.valueType ?? checker.getType('dyn')]]).scopes;
        const type = expression === undefined ? optional : checker.check(expression, innermost(binding, scope));
        return flat ? type : checker.getType(`optional<${type.name}>`);
      },
      evaluate(evaluator: Evaluator, _macro: unknown, scope: Scope): unknown {
        const optional = evaluator.run(call.receiver, scope);
        if (!(optional instanceof Optional)) return fail('the receiver must be optional');
        if (!optional.hasValue() || expression === undefined) return Optional.none();
        const value = runWith(evaluator, binding, scope, expression, [optional.value()]);
        return flat ? value : Optional.of(value);
      },
    };
  };
}

/** `has(object.field)`, whatever the object is: the engine's own knows chains of fields only. */
function presence(call: Call) {
  const [argument] = call.args;
  if (argument?.op !== '.' && argument?.op !== '.?') return fail('invalid argument to has() macro');
  const [object, field] = argument.args;
  return {
    async: false,
    typeCheck(checker: Checker, _macro: unknown, scope: Scope): TypeDeclaration {
      const type = checker.check(object, scope);
      const inner = type.kind === 'optional' ? (type.valueType ?? type) : type;
      const fields = checker.objectTypes.get(inner.name)?.fields;
      if (fields !== undefined && !(field in fields)) {
        throw checker.createError('no_such_field', `undefined field '${field}'`, argument);
      }
      if (!['message', 'map', 'dyn'].includes(inner.kind)) {
        throw checker.createError('no_such_field', `type '${inner.name}' does not support field selection`, argument);
      }
      return checker.getType('bool');
    },
    evaluate(evaluator: Evaluator, _macro: unknown, scope: Scope): unknown {
      const value = evaluator.run(object, scope);
      const held = value instanceof Optional ? (value.hasValue() ? value.value() : undefined) : value;
      if (held instanceof Map) return held.has(field);
      return typeof held === 'object' && held !== null && Object.hasOwn(held, field);
    },
  };
}

export function registerMacros(environment: Environment): void {
  const macros = {
    [`has${OURS}(ast): bool`]: presence,
    'list.all(ast, ast, ast): bool': quantifier(false),
    'list.exists(ast, ast, ast): bool': quantifier(true),
    'list.existsOne(ast, ast, ast): bool': existsOne,
    'list.exists_one(ast, ast, ast): bool': existsOne,
    'list.transformList(ast, ast, ast): dyn': transformList(false),
    'list.transformList(ast, ast, ast, ast): dyn': transformList(true),
    'list.transformMap(ast, ast, ast): dyn': transformMap(false),
    'list.transformMap(ast, ast, ast, ast): dyn': transformMap(true),
    'list.transformMapEntry(ast, ast, ast): dyn': transformMapEntry(false),
    'list.transformMapEntry(ast, ast, ast, ast): dyn': transformMapEntry(true),
    'list.sortBy(ast, ast): dyn': sortBy,
    'optional.optMap(ast, ast): dyn': optionalMap(false),
    'optional.optFlatMap(ast, ast): dyn': optionalMap(true),
  };
  for (const [signature, macro] of Object.entries(macros)) environment.registerFunction(signature, macro);
}
