// Builds the scope of rules at one place of a schema: the types of `self` and `oldSelf`, and the compiled rules.

import type { Json } from '#std/json.ts';
import { kubernetesEnvironment } from './environment.ts';
import type { ExpressionScope } from './expression.ts';
import { optionalOf } from './package.ts';
import { type CompiledRule, compileRule } from './rule.ts';
import type { CelSchema } from './schema.ts';
import { type CelTypes, declareType } from './values.ts';

export interface CelScope {
  /**
   * Compiles a rule, once per text. With `optionalOldSelf`, `oldSelf` is an optional without a value for a new object.
   */
  compile(expression: string, expectedType: 'bool' | 'string', optionalOldSelf?: boolean): CompiledRule;
  value(value: Json): unknown;
  /** Converts the value of `oldSelf` for rules with `optionalOldSelf`. */
  optional(value: Json | undefined): unknown;
}

/**
 * Returns undefined if rules cannot read values of the schema. `root`: the value is a resource, whose metadata is
 * always known.
 */
export function celScope(schema: CelSchema, root: boolean): CelScope | undefined {
  const types: CelTypes = { environment: kubernetesEnvironment(), objects: new Map() };
  const type = declareType(types, schema, root);
  if (type === undefined) return undefined;
  const { environment, objects } = types;
  const plain: ExpressionScope = { environment: environment.clone(), objects };
  plain.environment.registerVariable('self', type.name).registerVariable('oldSelf', type.name);
  const optional: ExpressionScope = { environment: environment.clone(), objects };
  optional.environment.registerVariable('self', type.name).registerVariable('oldSelf', `optional<${type.name}>`);
  const compiled = new Map<string, CompiledRule>();
  return {
    compile(expression, expectedType, optionalOldSelf = false) {
      const key = `${expectedType} ${optionalOldSelf} ${expression}`;
      const cached = compiled.get(key);
      if (cached !== undefined) return cached;
      const fresh = compileRule(optionalOldSelf ? optional : plain, expression, expectedType);
      compiled.set(key, fresh);
      return fresh;
    },
    value: (value) => type.convert(value),
    optional: (value) => optionalOf(value === undefined || value === null ? undefined : type.convert(value)),
  };
}
