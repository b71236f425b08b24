// Asks the person at the terminal the questions of a server (elicitation), one field after the other.

import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { isObject, type Json, type JsonObject, objectsIn, textsIn } from '#std/json.ts';
import type { Terminal } from './terminal.ts';

type Params = ElicitRequest['params'];
type Value = string | number | boolean | string[];

const YES = /^(y|yes)$/i;
const NO = /^(n|no)$/i;

/** Returns the answer. Without a terminal, declines. Ctrl-D and Ctrl-C cancel. */
export async function answerElicitation(terminal: Terminal, params: Params): Promise<ElicitResult> {
  if (!terminal.interactive) {
    terminal.say(`declined, because there is no terminal: ${params.message}`);
    return { action: 'decline' };
  }
  terminal.say(`\nThe server asks: ${params.message}`);
  if (params.mode === 'url') return answerUrl(terminal, params.url);
  const answer = await askYesNo(terminal, 'Answer? [Y/n, Ctrl-D to cancel] ', true);
  if (answer === undefined) return { action: 'cancel' };
  if (!answer) return { action: 'decline' };
  const content = await fillForm(terminal, params.requestedSchema);
  return content === undefined ? { action: 'cancel' } : { action: 'accept', content };
}

async function answerUrl(terminal: Terminal, url: string): Promise<ElicitResult> {
  terminal.say(`It wants you to open ${url}`);
  const opened = await askYesNo(terminal, 'Have you done so? [y/N, Ctrl-D to cancel] ', false);
  if (opened === undefined) return { action: 'cancel' };
  return { action: opened ? 'accept' : 'decline' };
}

async function askYesNo(terminal: Terminal, question: string, otherwise: boolean): Promise<boolean | undefined> {
  for (;;) {
    const answer = (await terminal.ask(question))?.trim();
    if (answer === undefined) return undefined;
    if (answer === '') return otherwise;
    if (YES.test(answer) || NO.test(answer)) return YES.test(answer);
    terminal.say('Please answer y or n.');
  }
}

async function fillForm(terminal: Terminal, schema: unknown): Promise<Record<string, Value> | undefined> {
  if (!isObject(schema)) return {};
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = new Set(textsIn(schema.required));
  const content: Record<string, Value> = {};
  for (const [key, property] of properties) {
    const field = isObject(property) ? property : {};
    const value = await askField(terminal, { key, field, required: required.has(key) });
    if (value === undefined) return undefined;
    if (value !== LEFT_OUT) content[key] = value;
  }
  return content;
}

const LEFT_OUT = Symbol('left out');

interface FieldQuestion {
  readonly key: string;
  readonly field: JsonObject;
  readonly required: boolean;
}

async function askField(terminal: Terminal, question: FieldQuestion): Promise<Value | typeof LEFT_OUT | undefined> {
  const { key, field, required } = question;
  const fallback = field.default;
  const choices = choicesOf(field);
  if (field.description !== undefined) terminal.say(`  ${String(field.description)}`);
  if (choices.length > 0) terminal.say(choices.map(({ title }, index) => `  ${index + 1}) ${title}`).join('\n'));
  const shown = fallback === undefined ? (required ? '' : ' (optional)') : ` [${shownDefault(fallback)}]`;
  for (;;) {
    const text = (await terminal.ask(`  ${String(field.title ?? key)}${shown}: `))?.trim();
    if (text === undefined) return undefined;
    if (text === '' && fallback !== undefined) return fallback as Value;
    if (text === '' && !required) return LEFT_OUT;
    const value = readField(text, field, choices);
    if (!('fault' in value)) return value.value;
    terminal.say(`  ${value.fault}`);
  }
}

function shownDefault(value: Json): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}

interface Choice {
  readonly value: string;
  readonly title: string;
}

/**
 * Returns the choices of a field. The choices may have titles, and the field may accept several values (MCP 2025-11-25,
 * Elicitation, Enum Schema).
 */
function choicesOf(field: JsonObject): readonly Choice[] {
  const of = field.type === 'array' && isObject(field.items) ? field.items : field;
  const titled = [...objectsIn(of.oneOf), ...objectsIn(of.anyOf)];
  if (titled.length > 0) return titled.map(({ const: value, title }) => choice(value, title));
  const names = textsIn(of.enumNames);
  return textsIn(of.enum).map((value, index) => choice(value, names[index]));
}

function choice(value: Json | undefined, title: Json | undefined): Choice {
  return { value: String(value), title: String(title ?? value) };
}

type ValueOrFault = { readonly value: Value } | { readonly fault: string };

function readField(text: string, field: JsonObject, choices: readonly Choice[]): ValueOrFault {
  switch (field.type) {
    case 'boolean':
      if (YES.test(text) || text === 'true') return { value: true };
      return NO.test(text) || text === 'false' ? { value: false } : { fault: 'Please answer y or n.' };
    case 'integer':
    case 'number':
      return readNumber(text, field);
    case 'array':
      return readSeveral(text, choices);
    default:
      return choices.length > 0 ? readChoice(text, choices) : readLine(text, field);
  }
}

function readNumber(text: string, { type, minimum, maximum }: JsonObject): ValueOrFault {
  const value = Number(text);
  if (Number.isNaN(value) || (type === 'integer' && !Number.isInteger(value)))
    return { fault: `This has to be a ${type}.` };
  if (typeof minimum === 'number' && value < minimum) return { fault: `This has to be ${minimum} or more.` };
  if (typeof maximum === 'number' && value > maximum) return { fault: `This has to be ${maximum} or less.` };
  return { value };
}

function readLine(text: string, { minLength, maxLength }: JsonObject): ValueOrFault {
  const length = [...text].length;
  if (typeof minLength === 'number' && length < minLength)
    return { fault: `At least ${minLength} characters, please.` };
  if (typeof maxLength === 'number' && length > maxLength) return { fault: `At most ${maxLength} characters, please.` };
  return { value: text };
}

function readChoice(text: string, choices: readonly Choice[]): { readonly value: string } | { readonly fault: string } {
  const chosen = choices.find(({ value, title }) => value === text || title === text) ?? choices[Number(text) - 1];
  return chosen === undefined ? { fault: `Please choose 1 to ${choices.length}.` } : { value: chosen.value };
}

function readSeveral(text: string, choices: readonly Choice[]): ValueOrFault {
  const values: string[] = [];
  for (const part of text.split(',').map((each) => each.trim())) {
    const read = readChoice(part, choices);
    if ('fault' in read) return { fault: `${read.fault} Several are separated by commas.` };
    values.push(read.value);
  }
  return { value: values };
}
