// Checks Cedar policies and entities with Cedar's own parser, a WebAssembly module of 4 MB that is loaded on first use
// (decision 0070).

import { createRequire } from 'node:module';
import { jsonFault, linePlaces } from './json-place.ts';

type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');
type DetailedError = Extract<ReturnType<Cedar['policySetTextToParts']>, { type: 'failure' }>['errors'][number];
type PolicyJson = Extract<ReturnType<Cedar['policyToJson']>, { type: 'success' }>['json'];

/** A fault of a text. Line and column count from 1. */
export interface CedarFault {
  readonly line: number;
  readonly column: number;
  /** The parser's message, followed by the expected token and the parser's advice if known. */
  readonly message: string;
}

/** Returns the faults of a text that must contain one or more policies. */
export function policyFaults(text: string): readonly CedarFault[] {
  const answer = askCedar((cedar) => cedar.policySetTextToParts(text));
  if ('refusal' in answer) return [{ line: 1, column: 1, message: answer.refusal }];
  if (answer.type === 'failure') return flat(answer.errors).map((error) => placed(error, text));
  const {
    policies,
    policy_templates: [template],
  } = answer;
  if (template !== undefined) {
    const message = 'a template with ?principal or ?resource, which is never filled in';
    return [{ ...linePlaces(text)(Math.max(0, text.indexOf(template))), message }];
  }
  return policies.length > 0 ? [] : [{ line: 1, column: 1, message: 'it contains no policy' }];
}

/**
 * Returns the places of policies that name an entity type, in a text without faults. Includes policies that cannot be
 * analysed, because they may name the type.
 */
export function policiesNaming(type: string, text: string): readonly Pick<CedarFault, 'line' | 'column'>[] {
  const parts = askCedar((cedar) => cedar.policySetTextToParts(text));
  if ('refusal' in parts || parts.type === 'failure') return [];
  const placeOf = linePlaces(text);
  return parts.policies
    .filter((policy) => {
      const answer = askCedar((cedar) => cedar.policyToJson(policy));
      return 'refusal' in answer || answer.type === 'failure' || namesEntityType(type, answer.json);
    })
    .map((policy) => placeOf(Math.max(0, text.indexOf(policy))));
}

/** Returns whether the scope or a condition of a policy names the entity type. */
function namesEntityType(type: string, { principal, action, resource, conditions }: PolicyJson): boolean {
  return holdsType(type, [principal, action, resource, conditions]);
}

/**
 * Returns whether the JSON form of a policy contains the type under a `type` or `entity_type` key. A record in a policy
 * may have the same keys, but their values are objects, never texts.
 */
function holdsType(type: string, json: unknown): boolean {
  if (Array.isArray(json)) return json.some((each) => holdsType(type, each));
  if (typeof json !== 'object' || json === null) return false;
  return Object.entries(json).some(([key, value]) => {
    return ((key === 'type' || key === 'entity_type') && value === type) || holdsType(type, value);
  });
}

/** Returns the fault of a JSON text that must contain a list of entities. Returns undefined if the text is valid. */
export function entitiesFault(text: string): string | undefined {
  const broken = jsonFault(text);
  if (broken !== undefined) {
    const { line, column } = linePlaces(text)(broken.offset);
    return `${line}:${column}: not JSON: ${broken.message}`;
  }
  const entities = JSON.parse(text);
  if (!Array.isArray(entities)) return 'must be a JSON list of entities';
  const answer = askCedar((cedar) => cedar.checkParseEntities({ entities, schema: null }));
  if ('refusal' in answer) return answer.refusal;
  return answer.type === 'success' ? undefined : flat(answer.errors).map(worded).join('; ');
}

const require = createRequire(import.meta.url);
const MODULE = '@cedar-policy/cedar-wasm/nodejs';

/**
 * Calls the parser. A deeply nested text overflows the stack of the WebAssembly instance and breaks it. The next call
 * then loads a new instance.
 */
function askCedar<T extends object>(question: (cedar: Cedar) => T): T | { readonly refusal: string } {
  const cedar: Cedar = require(MODULE);
  try {
    return question(cedar);
  } catch (error) {
    delete require.cache[require.resolve(MODULE)];
    const cause = error instanceof Error ? error.message : String(error);
    return { refusal: `nested too deeply to be read (${cause})` };
  }
}

/** Returns an error, followed by its related errors. */
function flat(errors: readonly DetailedError[]): readonly DetailedError[] {
  return errors.flatMap((error) => [error, ...flat(error.related ?? [])]);
}

function placed(error: DetailedError, text: string): CedarFault {
  return { ...placeIn(text, error.sourceLocations?.[0]?.start ?? 0), message: worded(error) };
}

/** Converts the parser's offset, which counts UTF-8 bytes, to line and column. */
function placeIn(text: string, bytes: number): Pick<CedarFault, 'line' | 'column'> {
  return linePlaces(text)(Buffer.from(text).subarray(0, bytes).toString().length);
}

/** Beginning of the parser's messages, which contains no information. */
const PREAMBLE = /^(failed to parse policies from string|error during entity deserialization): /;

function worded({ message, help, sourceLocations }: DetailedError): string {
  const expected = sourceLocations?.[0]?.label;
  return [message.replace(PREAMBLE, ''), expected, help].filter((part) => part != null).join('; ');
}
