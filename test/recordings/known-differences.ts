// Where the embedded cluster knowingly answers otherwise than the real server that was recorded, each with the reason.
// An entry that no longer applies fails the replay: the list says what is, not what was.

import type { Difference } from './compare.ts';

export interface KnownDifference {
  /** Scenario names; `*` stands for any part of a name. */
  readonly scenario: string;
  /** The step's reason; absent: every step. */
  readonly step?: string;
  /** JSON pointer into `{request, answer}`; `*` stands for one token, `**` at the end for everything below. */
  readonly pointer: string;
  readonly reason: string;
}

/** The refusal, its status and the field are the same. */
const WORDS = 'The words are ours: those of the server come out of the Go libraries that it is made of.';

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  { scenario: 'apply-list-map', step: 'one port twice is a 500', pointer: '/answer/body/message', reason: WORDS },
  { scenario: 'apply-sets', step: 'a value twice is a 500', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'apply-owner-references',
    step: 'two controllers are refused',
    pointer: '/answer/body/details/causes',
    reason: WORDS,
  },
  {
    scenario: 'apply-preconditions',
    step: 'a wrong uid is an invalid value, not a conflict',
    pointer: '/answer/body/details/causes',
    reason: WORDS,
  },
  { scenario: 'apply-preconditions', step: 'so with force', pointer: '/answer/body/details/causes', reason: WORDS },
  { scenario: 'apply-refused', step: 'text that is no YAML', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'apply-refused',
    step: 'a value of the wrong type is a 500 without a reason',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'apply-refused',
    step: 'so is a list in the place of a map',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'apply-refused',
    step: 'and a field that the kind does not have',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  { scenario: 'apply-secret', step: 'what is not base64 is a 500', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'apply-terminating',
    step: 'a new finalizer may not be added',
    pointer: '/answer/body/details/causes',
    reason: WORDS,
  },
  {
    scenario: 'create-names',
    step: 'another apiVersion than that of the URL',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'apply with an unknown field, Strict',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'apply with an unknown field of metadata, Strict',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'merge patch with unknown fields, Strict',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'merge patch with unknown fields, Strict',
    pointer: '/answer/body/details/causes/**',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'apply with an unknown field, Warn',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'apply with an unknown field of metadata, Warn',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'apply with an unknown field, Ignore',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'field-validation',
    step: 'apply with an unknown field of metadata, Ignore',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  { scenario: 'field-validation', step: 'and applied', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'merge-patch',
    step: 'a wrong uid is an invalid value',
    pointer: '/answer/body/details/causes',
    reason: WORDS,
  },
  { scenario: 'merge-patch', step: 'a value of the wrong type', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'merge-patch',
    step: 'a value of the wrong type',
    pointer: '/answer/body/details/causes/**',
    reason: WORDS,
  },
  { scenario: 'merge-patch', step: 'a patch that is no object', pointer: '/answer/body/message', reason: WORDS },
  { scenario: 'json-patch', step: 'a patch that is no list', pointer: '/answer/body/message', reason: WORDS },
  { scenario: 'errors', step: 'an answer in a form that nobody has', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'delete-preconditions',
    step: 'options that are no DeleteOptions',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  { scenario: 'list-pages', step: 'a token that is none', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'discovery',
    step: 'the resources of the core group',
    pointer: '/answer/body/resources',
    reason:
      "Only what is served is listed: no tokens of service accounts and no proxies; and the hash of the CRDs' storage version is our own.",
  },
  {
    scenario: 'discovery',
    step: 'the resources of apiextensions.k8s.io',
    pointer: '/answer/body/resources/0/storageVersionHash',
    reason:
      "Only what is served is listed: no tokens of service accounts and no proxies; and the hash of the CRDs' storage version is our own.",
  },
  {
    scenario: 'discovery',
    step: 'the core group, aggregated',
    pointer: '/answer/body/items/0/versions/0/resources/2/subresources',
    reason:
      "Only what is served is listed: no tokens of service accounts and no proxies; and the hash of the CRDs' storage version is our own.",
  },
  {
    scenario: 'discovery',
    step: 'the core group, aggregated',
    pointer: '/answer/body/items/0/versions/0/resources/3/subresources',
    reason:
      "Only what is served is listed: no tokens of service accounts and no proxies; and the hash of the CRDs' storage version is our own.",
  },
  {
    scenario: 'custom-definitions-refused',
    step: 'a rule that may cost too much',
    pointer: '/answer/**',
    reason: 'The cost of rules is not estimated: a definition over the budget is accepted.',
  },
  {
    scenario: 'custom-definitions-refused',
    step: 'a short name that is none',
    pointer: '/answer/**',
    reason: 'Short names are not checked.',
  },
  {
    scenario: 'custom-definitions-refused',
    step: 'a printer column without a path',
    pointer: '/answer/**',
    reason: 'Printer columns are not checked when a definition is written.',
  },
  {
    scenario: 'custom-definitions-refused',
    step: 'a printer column of an unknown type',
    pointer: '/answer/**',
    reason: 'Printer columns are not checked when a definition is written.',
  },
  {
    scenario: 'custom-definitions-refused',
    step: 'preserving at the root',
    pointer: '/answer/**',
    reason: '`x-kubernetes-preserve-unknown-fields` at the root is accepted.',
  },
  {
    scenario: 'custom-table',
    step: 'the table',
    pointer: '/answer/body/rows/0/cells/8',
    reason: 'A cell whose path matches several values shows them all.',
  },
  { scenario: 'custom-validation', step: 'a fraction for an integer', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'custom-validation',
    step: 'a fraction for an integer',
    pointer: '/answer/body/details/causes',
    reason: WORDS,
  },
  { scenario: 'custom-validation', step: 'oneOf: none', pointer: '/answer/body/message', reason: WORDS },
  { scenario: 'custom-validation', step: 'oneOf: none', pointer: '/answer/body/details/causes', reason: WORDS },
  { scenario: 'custom-validation', step: 'oneOf: both', pointer: '/answer/body/message', reason: WORDS },
  { scenario: 'custom-validation', step: 'oneOf: both', pointer: '/answer/body/details/causes/**', reason: WORDS },
  { scenario: 'custom-validation', step: 'not', pointer: '/answer/body/message', reason: WORDS },
  { scenario: 'custom-validation', step: 'not', pointer: '/answer/body/details/causes/**', reason: WORDS },
  { scenario: 'custom-validation', step: 'applied: text for a number', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'custom-validation',
    step: 'applied: an unknown field, Strict',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'custom-validation',
    step: 'applied: an unknown field, Warn',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'custom-validation',
    step: 'applied: an unknown field, Ignore',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'custom-validation',
    step: 'applied: an unknown field of metadata, Strict',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'custom-validation',
    step: 'applied: a set with a value twice',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'custom-validation',
    step: 'applied: a list map with a key twice',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'custom-validation',
    step: 'applied: an item without its key',
    pointer: '/answer/body/message',
    reason: WORDS,
  },
  {
    scenario: 'custom-validation',
    step: 'applied: null is not dropped',
    pointer: '/answer/**',
    reason: 'A null that is applied to a field of a custom resource is dropped instead of refused.',
  },
  {
    scenario: 'custom-validation',
    step: 'another version',
    pointer: '/answer/headers/warning',
    reason: 'No warning names the fields of a body that is refused for its version.',
  },
  {
    scenario: 'custom-defaults',
    step: 'unknown fields are pruned, below preserved ones they are kept',
    pointer: '/answer/**',
    reason: 'An unknown field in the metadata of an embedded resource is refused instead of dropped.',
  },
  {
    scenario: 'custom-rules',
    step: 'a list above its limit hides the rules of its items',
    pointer: '/answer/body/message',
    reason: 'Rules below a list that is too long are evaluated all the same.',
  },
  {
    scenario: 'custom-rules',
    step: 'a list above its limit hides the rules of its items',
    pointer: '/answer/body/details/causes/0/reason',
    reason: 'Rules below a list that is too long are evaluated all the same.',
  },
  {
    scenario: 'custom-rules',
    step: 'a list above its limit hides the rules of its items',
    pointer: '/answer/body/details/causes/0/message',
    reason: 'Rules below a list that is too long are evaluated all the same.',
  },
  {
    scenario: 'custom-rules',
    step: 'a list above its limit hides the rules of its items',
    pointer: '/answer/body/details/causes/0/field',
    reason: 'Rules below a list that is too long are evaluated all the same.',
  },
  {
    scenario: 'custom-rules',
    step: 'a list above its limit hides the rules of its items',
    pointer: '/answer/body/details/causes/1/reason',
    reason: 'Rules below a list that is too long are evaluated all the same.',
  },
  {
    scenario: 'custom-rules',
    step: 'a list above its limit hides the rules of its items',
    pointer: '/answer/body/details/causes/1/message',
    reason: 'Rules below a list that is too long are evaluated all the same.',
  },
  {
    scenario: 'custom-rules',
    step: 'a list above its limit hides the rules of its items',
    pointer: '/answer/body/details/causes/1/field',
    reason: 'Rules below a list that is too long are evaluated all the same.',
  },
  { scenario: 'custom-apply', step: 'a field that nobody knows', pointer: '/answer/body/message', reason: WORDS },
  {
    scenario: 'custom-apply',
    step: 'a wrong uid of a custom resource',
    pointer: '/answer/body/details/causes',
    reason: WORDS,
  },
  { scenario: 'custom-definitions-refused', pointer: '/answer/body/message', reason: WORDS },
  { scenario: 'custom-definitions-refused', pointer: '/answer/body/details/causes', reason: WORDS },
  { scenario: 'custom-definitions-refused', pointer: '/answer/body/details/causes/**', reason: WORDS },
  {
    scenario: 'custom-defaults',
    pointer: '/answer/body/metadata/resourceVersion',
    reason: 'One object fewer was stored before: see the refused embedded resource.',
  },
  {
    scenario: 'custom-defaults',
    pointer: '/answer/body/metadata/uid',
    reason: 'One object fewer was stored before: see the refused embedded resource.',
  },
];

export function isKnown(known: KnownDifference, scenario: string, difference: Difference): boolean {
  if (known.step !== undefined && known.step !== difference.reason) return false;
  return matches(known.scenario.split('*'), scenario) && pointerMatches(known.pointer, difference.pointer);
}

function matches(parts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = parts;
  if (!name.startsWith(first)) return false;
  if (rest.length === 0) return name === first;
  const last = rest.at(-1) ?? '';
  return name.length >= first.length + last.length && name.endsWith(last);
}

function pointerMatches(pattern: string, pointer: string): boolean {
  const wanted = pattern.split('/');
  const tokens = pointer.split('/');
  if (wanted.at(-1) === '**') {
    const above = wanted.slice(0, -1);
    return tokens.length >= above.length && above.every((token, index) => token === '*' || token === tokens[index]);
  }
  return wanted.length === tokens.length && wanted.every((token, index) => token === '*' || token === tokens[index]);
}
