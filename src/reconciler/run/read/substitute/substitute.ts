// Replaces the variables in one object, as Flux does after a build: a replaced text is read as a YAML scalar, with or
// without quotes. It never becomes a list or a mapping (docs/decisions/0335).

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { resolveScalar } from '#std/yaml/scalar.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { expandParts, hasExpression, namesIn, parseText } from './expressions.ts';
import type { Variables } from './variables.ts';

interface SubstitutionFault {
  readonly code:
    | 'variable-unknown'
    | 'variable-expression'
    | 'variable-in-key'
    | 'variable-secret'
    | 'variables-too-long';
  readonly message: string;
  readonly pointer: string;
}

export interface Substituted {
  readonly value: Json;
  readonly faults: readonly SubstitutionFault[];
  /** Pointers to texts with variables that are known only in the cluster. Their expressions are kept. */
  readonly unknown: readonly string[];
  /** Number of characters of all replaced texts. */
  readonly length: number;
}

const DISABLED = 'kustomize.toolkit.fluxcd.io/substitute';

export function substitute(object: Json, variables: Variables, lengthMax: number): Substituted {
  if (!isObject(object) || isDisabled(object)) return { value: object, faults: [], unknown: [], length: 0 };
  if (variables.literal === true) return { value: object, faults: [], unknown: expressionsIn(object), length: 0 };
  return substituteIn(object, variables, lengthMax);
}

/** Returns pointers to all texts and keys with expressions. */
function expressionsIn(object: JsonObject): readonly string[] {
  const found: string[] = [];
  function visit(value: Json, pointer: string): void {
    if (typeof value === 'string' && hasExpression(value)) found.push(pointer);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner = null] of Object.entries(value)) {
      const at = `${pointer}/${pointerToken(name)}`;
      if (hasExpression(name)) found.push(at);
      visit(inner, at);
    }
  }
  visit(object, '');
  return found;
}

function substituteIn(object: JsonObject, variables: Variables, lengthMax: number): Substituted {
  const faults: SubstitutionFault[] = [];
  const unknown: string[] = [];
  let length = 0;
  function visit(value: Json, pointer: string): Json {
    if (typeof value === 'string') return hasExpression(value) ? putValues(value, pointer) : value;
    if (Array.isArray(value)) return value.map((item, index) => visit(item, `${pointer}/${index}`));
    if (!isObject(value)) return value;
    const fields = Object.entries(value).map(([name, inner = null]): [string, Json] => {
      const at = `${pointer}/${pointerToken(name)}`;
      if (hasExpression(name)) faults.push(keyFault(name, at));
      return [name, visit(inner, at)];
    });
    return Object.fromEntries(fields);
  }
  function putValues(text: string, pointer: string): Json {
    const parsed = parseText(text);
    if (!parsed.ok) {
      faults.push(expressionFault(parsed.expression, pointer));
      return text;
    }
    const { parts } = parsed;
    const left = Math.max(0, lengthMax - length);
    const { text: result, missing, used } = expandParts(parts, (name) => variables.values.get(name)?.value, left);
    length += result.length;
    const secret = used.find((name) => variables.values.get(name)?.secret === true);
    if (missing.length > 0 && !variables.complete) unknown.push(pointer);
    else if (missing.length > 0) faults.push(...missing.map((name) => unknownFault(name, pointer, variables)));
    else if (secret !== undefined && !mayHoldSecrets(object, pointer)) faults.push(secretFault(secret, pointer));
    else if (length > lengthMax) faults.push(lengthFault(pointer, lengthMax));
    else return namesIn(parts).length === 0 ? result : meaningOf(result, isTextOnly(object, pointer));
    return text;
  }
  const value = visit(object, '');
  return { value, faults, unknown, length };
}

function isDisabled({ metadata }: JsonObject): boolean {
  if (!isObject(metadata)) return false;
  return [metadata.labels, metadata.annotations].some((marks) => isObject(marks) && marks[DISABLED] === 'disabled');
}

/** Reads the text as a YAML scalar. `textOnly` is true if the field only accepts text. */
function meaningOf(text: string, textOnly: boolean): Json {
  const quoted = /^(["']).*\1$/.test(text) ? readDocuments(text, '')[0] : undefined;
  if (typeof quoted?.value === 'string' && quoted.problems.length === 0) return quoted.value;
  if (textOnly || text.includes('\n')) return text;
  const resolved = resolveScalar(text, true, undefined);
  return resolved.ok && resolved.inexact !== true ? resolved.value : text;
}

const TEXTS = ['/metadata/labels/', '/metadata/annotations/'];
const DATA = ['/data/', '/stringData/'];

function isTextOnly({ apiVersion, kind }: JsonObject, pointer: string): boolean {
  const isData = apiVersion === 'v1' && (kind === 'Secret' || kind === 'ConfigMap');
  return [...TEXTS, ...(isData ? DATA : [])].some((prefix) => pointer.startsWith(prefix));
}

function mayHoldSecrets({ apiVersion, kind }: JsonObject, pointer: string): boolean {
  return apiVersion === 'v1' && kind === 'Secret' && DATA.some((prefix) => pointer.startsWith(prefix));
}

function unknownFault(name: string, pointer: string, { source, from }: Variables): SubstitutionFault {
  const places = [`substitute.values of source ${source}`, ...from].join(', ');
  const message = `The variable ${name} has no value (looked for in ${places}): add it there, write \${${name}:=default}, or write $\${${name}} for a text that is to stay.`;
  return { code: 'variable-unknown', message, pointer };
}

function expressionFault(expression: string, pointer: string): SubstitutionFault {
  const message = `"${expression}" is not an expression that is replaced: write \${NAME} or \${NAME:=default}, or begin with $\${ for a text that is to stay.`;
  return { code: 'variable-expression', message, pointer };
}

function keyFault(name: string, pointer: string): SubstitutionFault {
  const message = `The key "${name}" contains an expression, and only values are replaced: write the key itself.`;
  return { code: 'variable-in-key', message, pointer };
}

function secretFault(name: string, pointer: string): SubstitutionFault {
  const message = `The value of ${name} comes from a Secret, and would be readable here. Use it in \`data\` or \`stringData\` of a Secret only, or move the value to a ConfigMap.`;
  return { code: 'variable-secret', message, pointer };
}

function lengthFault(pointer: string, lengthMax: number): SubstitutionFault {
  const message = `The values of variables come to more than ${lengthMax} characters in this file: use shorter values, or fewer of them.`;
  return { code: 'variables-too-long', message, pointer };
}
