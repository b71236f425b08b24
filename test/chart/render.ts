// What Helm makes of the templates of manifests/chart, of the language of templates only what they use; anything else is
// refused. For machines without Helm; where it is there, a test compares the two.

import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';

interface Scope {
  /** `$`: Values, Release, Chart. */
  readonly root: JsonObject;
  /** Of `range`. */
  readonly variables: ReadonlyMap<string, Json>;
}

type Part = { readonly text: string } | { readonly action: string };

export function render(template: string, root: JsonObject): string {
  const parts = partsOf(template);
  const text = renderParts(parts, { root, variables: new Map() });
  if (parts.length > 0) throw new Error('an end too many');
  return text;
}

/** Actions, and the texts between them; `{{-` and `-}}` take the space before and after. */
function partsOf(template: string): Part[] {
  const [first = '', ...rest] = template.split('{{');
  const parts: Part[] = [{ text: first }];
  for (const piece of rest) {
    // `{{ "{{" }}` has been split in two.
    const previous = parts.at(-1);
    if (previous !== undefined && 'action' in previous && previous.action === '"') {
      parts.splice(-1, 1, { text: '{{' }, { text: piece.slice(piece.indexOf('}}') + 2) });
      continue;
    }
    if (piece.trim() === '"') {
      parts.push({ action: '"' });
      continue;
    }
    const end = piece.indexOf('}}');
    const action = piece.slice(0, end);
    const text = piece.slice(end + 2);
    if (action.startsWith('-') && previous !== undefined && 'text' in previous) {
      parts.splice(-1, 1, { text: previous.text.trimEnd() });
    }
    parts.push(
      { action: action.replace(/^-/, '').replace(/-$/, '').trim() },
      { text: action.endsWith('-') ? text.trimStart() : text },
    );
  }
  return parts;
}

/** Takes from `parts` up to its `end`. */
function renderParts(parts: Part[], scope: Scope): string {
  let text = '';
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if ('text' in part) text += part.text;
    else if (part.action === 'end') return text;
    else text += renderAction(part.action, parts, scope);
  }
  return text;
}

function renderAction(action: string, parts: Part[], scope: Scope): string {
  const [word, ...rest] = action.split(' ');
  switch (word) {
    case '/*':
      return '';
    case 'if': {
      const body = renderParts(parts, scope);
      return isTrue(evaluated(rest.join(' '), scope)) ? body : '';
    }
    case 'range': {
      const [variable = '', assign, ...list] = rest;
      const values = evaluated(list.join(' '), scope);
      if (assign !== ':=' || !Array.isArray(values)) throw new Error(`cannot read: ${action}`);
      const end = parts.findIndex((part) => 'action' in part && part.action === 'end');
      const body = parts.splice(0, end + 1);
      return values
        .map((value) => renderParts([...body], { ...scope, variables: new Map([[variable, value]]) }))
        .join('');
    }
    default:
      return String(evaluated(action, scope));
  }
}

/** A function and its arguments, each a text, a path, a word or a call in parentheses. */
function evaluated(expression: string, scope: Scope): Json {
  const tokens = expression.match(/"[^"]*"|[()]|[^\s()]+/g) ?? [];
  const value = callOf(tokens, scope);
  if (tokens.length > 0) throw new Error(`cannot read: ${expression}`);
  return value;
}

function callOf(tokens: string[], scope: Scope): Json {
  const [name = ''] = tokens;
  const call = FUNCTIONS[name];
  if (call !== undefined) tokens.shift();
  const values: Json[] = [];
  for (let token = tokens.shift(); token !== undefined && token !== ')'; token = tokens.shift()) {
    values.push(token === '(' ? callOf(tokens, scope) : operandOf(token, scope));
  }
  if (call !== undefined) return call(values);
  const [value, ...others] = values;
  if (value === undefined || others.length > 0) throw new Error(`no function: ${name}`);
  return value;
}

function operandOf(token: string, { root, variables }: Scope): Json {
  if (token.startsWith('"')) return JSON.parse(token);
  if (/^(true|false|\d+)$/.test(token)) return JSON.parse(token);
  const variable = variables.get(token);
  if (variable !== undefined) return variable;
  const [start, ...keys] = token.split('.');
  const found = keys.reduce<Json | undefined>((value, key) => (isObject(value) ? value[key] : undefined), root);
  if (start !== '$' || found === undefined) throw new Error(`nothing is called ${token}`);
  return found;
}

const FUNCTIONS: Readonly<Record<string, (values: readonly Json[]) => Json>> = {
  and: (values) => values.every(isTrue),
  eq: ([a, b]) => jsonEquals(a, b),
  default: ([fallback = null, value = null]) => (isTrue(value) ? value : fallback),
  toJson: ([value]) => JSON.stringify(value),
  printf: ([format, ...values]) =>
    values.reduce<string>((text, value) => text.replace('%s', () => String(value)), String(format)),
  sha256sum: ([value]) => createHash('sha256').update(String(value)).digest('hex'),
  trunc: ([length, value]) => String(value).slice(0, Number(length)),
};

function isTrue(value: Json): boolean {
  if (isObject(value)) return Object.keys(value).length > 0;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
