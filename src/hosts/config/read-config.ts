// Reads settings from skep.yaml and the environment. The variable SKEP_<PATH> sets the setting at this path.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { compileStructural, isBlocking } from '#kubernetes/rules/structural/structural.ts';
import { addressFaults } from '#std/address/address.ts';
import { didYouMean } from '#std/closest.ts';
import { type Environment, misspelledVariables, variableOf, withEnvironment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { formatProblem, type Problem } from '#std/problem.ts';
import { describePattern } from '#std/schema/pattern-meanings.ts';
import type { TSchema } from '#std/schema.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { CONFIG_SCHEMA, type Config } from './config.ts';
import { brokenRules } from './rules.ts';

export interface ConfigInput {
  /** Text of skep.yaml; undefined if the file does not exist and only the environment contains settings. */
  readonly text: string | undefined;
  /** Name of the file, for messages. */
  readonly file: string;
  readonly environment: Environment;
}

/** Prefix of variables: `SKEP_APPLY_MAXDELETES=5` sets `apply.maxDeletes`. */
const PREFIX = 'SKEP';

/** Throws Failure `config-invalid` with one line per problem, each with file:line:column. */
export function readConfig(input: ConfigInput): Config {
  const [document] = input.text === undefined ? [] : readDocuments(input.text, input.file);
  const value = document?.value;
  if (document !== undefined && document.problems.length > 0) throw invalidConfig(document.problems);
  const schema = plainSchema(CONFIG_SCHEMA);
  const written = withEnvironment(schema, isObject(value) ? value : {}, PREFIX, input.environment);
  const structural = compileStructural(schema, describePattern);
  const complete = structural.withDefaults(written);
  const unfit = structural.validate(complete);
  const broken = unfit.some(isBlocking) ? [] : [...brokenRules(CONFIG_SCHEMA, complete), ...addressFindings(complete)];
  const findings = [...unknownSettings(schema, written), ...unfit, ...broken];
  const misspelled = misspelledVariables(schema, PREFIX, input.environment);
  if (findings.length + misspelled.length > 0) {
    throw invalidConfig([
      ...misspelled.map(misspelledProblem),
      ...findings.map(({ code, severity, message, pointer, at }): Problem => {
        const variable = variableOf(pointer, PREFIX, input.environment);
        if (variable !== undefined) return { code, severity, message: `${variable}: ${message}`, pointer };
        const place = document?.place(pointer, at ?? 'value') ?? { file: input.file, line: 1, column: 1 };
        return { code, severity, message, pointer, place };
      }),
    ]);
  }
  return complete as Config;
}

function addressFindings(settings: JsonObject): readonly Finding[] {
  return addressFaults(CONFIG_SCHEMA, settings).map(({ pointer, message }) => {
    return { code: 'setting-rule', severity: 'error', pointer, message: `${fieldPath(pointer)} ${message}` };
  });
}

function misspelledProblem({ variable, meant }: { readonly variable: string; readonly meant: string }): Problem {
  const message = `${variable}: there is no setting of this name. Did you mean ${meant}?`;
  return { code: 'schema-unknown-field', severity: 'error', message };
}

/** Finds settings, at any depth, that the schema does not define. They are probably misspelled. */
function unknownSettings(schema: JsonObject, value: Json, pointer = ''): Finding[] {
  if (Array.isArray(value)) {
    const items = isObject(schema.items) ? schema.items : {};
    return value.flatMap((item, index) => unknownSettings(items, item, `${pointer}/${index}`));
  }
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return [];
  return Object.entries(value).flatMap(([name, inner]): Finding[] => {
    const at = `${pointer}/${pointerToken(name)}`;
    const known = properties[name];
    if (isObject(known)) return inner === undefined ? [] : unknownSettings(known, inner, at);
    const message = `there is no setting "${name}" here.${didYouMean(name, Object.keys(properties))}`;
    return [{ code: 'schema-unknown-field', severity: 'error', pointer: at, at: 'key', message }];
  });
}

function invalidConfig(problems: readonly Problem[]): Failure {
  return new Failure('config-invalid', problems.map(formatProblem).join('\n'));
}

/** Returns the schema as plain JSON, without the symbols and hidden keys of TypeBox. */
function plainSchema(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}
