// Implements macros: sorting by a key, optional values, and the presence of a field. Source: cel-go ext/lists,
// cel.OptionalTypes; CEL language definition, "Macros".

import type { Environment, TypeDeclaration } from '@marcbachmann/cel-js';
import { isOptional, optionalOf } from '../package.ts';
import { existsOne, quantifier, transformList, transformMap, transformMapEntry } from './comprehensions.ts';
import { fail, itemsOf, OURS } from './library.ts';
import { compareItems } from './lists.ts';
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

/** `list.sortBy(x, key)` */
function sortBy(call: MacroCall) {
  const binding: Binding = { scopes: [] };
  const [variable, key] = call.args;
  return {
    async: false,
    typeCheck(checker: Checker, _macro: unknown, scope: MacroScope): TypeDeclaration {
      const list = checker.check(call.receiver, scope);
      binding.scopes = bind(scope, [[variableName(variable), list.valueType ?? checker.getType('dyn')]]).scopes;
      if (key !== undefined) checker.check(key, innermost(binding, scope));
      return list;
    },
    evaluate(evaluator: Evaluator, _macro: unknown, scope: MacroScope): unknown {
      const items = itemsOf(evaluator.run(call.receiver, scope) as Iterable<unknown>);
      const keyed = items.map((item) => ({
        item,
        key: (key === undefined ? item : runWith(evaluator, binding, scope, key, [item])) as bigint,
      }));
      return keyed.toSorted((a, b) => compareItems(a.key, b.key)).map(({ item }) => item);
    },
  };
}

/** `optional.optMap(x, expression)`. With `flat`, `optional.optFlatMap`: the expression itself returns an optional. */
function optionalMap(flat: boolean) {
  return (call: MacroCall) => {
    const binding: Binding = { scopes: [] };
    const [variable, expression] = call.args;
    return {
      async: false,
      typeCheck(checker: Checker, _macro: unknown, scope: MacroScope): TypeDeclaration {
        const optional = checker.check(call.receiver, scope);
        binding.scopes = bind(scope, [[variableName(variable), optional.valueType ?? checker.getType('dyn')]]).scopes;
        const type = expression === undefined ? optional : checker.check(expression, innermost(binding, scope));
        return flat ? type : checker.getType(`optional<${type.name}>`);
      },
      evaluate(evaluator: Evaluator, _macro: unknown, scope: MacroScope): unknown {
        const optional = evaluator.run(call.receiver, scope);
        if (!isOptional(optional)) return fail('the receiver must be optional');
        if (!optional.hasValue() || expression === undefined) return optionalOf(undefined);
        const value = runWith(evaluator, binding, scope, expression, [optional.value()]);
        return flat ? value : optionalOf(value);
      },
    };
  };
}

/** `has(object.field)` for any object. The engine's own macro supports chains of fields only. */
function presence(call: MacroCall) {
  const [argument] = call.args;
  if (argument?.op !== '.' && argument?.op !== '.?') return fail('invalid argument to has() macro');
  const [object, field] = argument.args;
  return {
    async: false,
    typeCheck(checker: Checker, _macro: unknown, scope: MacroScope): TypeDeclaration {
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
    evaluate(evaluator: Evaluator, _macro: unknown, scope: MacroScope): unknown {
      const value = evaluator.run(object, scope);
      const held = isOptional(value) ? (value.hasValue() ? value.value() : undefined) : value;
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
