// Where the embedded cluster knowingly answers otherwise than the real server that was recorded, each with the reason.
// An entry that no longer applies fails the replay: the list says what is, not what was.

import type { Difference } from './compare.ts';

export interface KnownDifference {
  /** Scenario names; absent: every scenario. */
  readonly scenarios?: readonly string[];
  /** Reasons of steps; absent: every step. */
  readonly steps?: readonly string[];
  /** JSON pointers into `{request, answer}`; `*` stands for one token, `**` at the end for everything below. */
  readonly pointers: readonly string[];
  /** How both texts begin: the rest differs. */
  readonly startsWith?: string;
  readonly reason: string;
}

const MESSAGE = '/answer/body/message';
const CAUSES = '/answer/body/details/causes';
const CAUSE_MESSAGES = `${CAUSES}/*/message`;

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    pointers: [MESSAGE],
    startsWith: 'failed to create typed patch object (',
    reason: 'what does not fit its type is said in our own words, which never quote a value',
  },
  {
    scenarios: ['apply-preconditions', 'apply-owner-references', 'apply-terminating', 'merge-patch', 'custom-apply'],
    steps: [
      'a wrong uid is an invalid value, not a conflict',
      'so with force',
      'a wrong uid is an invalid value',
      'a wrong uid of a custom resource',
      'two controllers are refused',
      'a new finalizer may not be added',
    ],
    pointers: [CAUSES],
    reason:
      'a real server looks twice at the metadata of an update and names some causes twice; the message is the same',
  },
  {
    scenarios: [
      'create-names',
      'delete-preconditions',
      'merge-patch',
      'json-patch',
      'list-pages',
      'apply-refused',
      'apply-secret',
    ],
    steps: [
      'another apiVersion than that of the URL',
      'options that are no DeleteOptions',
      'a patch that is no object',
      'a patch that is no list',
      'a token that is none',
      'text that is no YAML',
      'what is not base64 is a 500',
    ],
    pointers: [MESSAGE],
    reason: 'the text tells of the Go libraries of the server: its scheme, its JSON and YAML decoders',
  },
  {
    scenarios: ['merge-patch', 'field-validation'],
    steps: ['a value of the wrong type', 'merge patch with unknown fields, Strict'],
    pointers: [MESSAGE, CAUSE_MESSAGES],
    reason: 'the text quotes the whole object, its fields in the order of Go structs',
  },
  {
    scenarios: ['errors'],
    steps: ['an answer in a form that nobody has'],
    pointers: [MESSAGE],
    startsWith: '406: Not Acceptable',
    reason: 'the list of forms that are served: ours has no protobuf',
  },
  {
    scenarios: ['discovery'],
    steps: ['the resources of the core group', 'the core group, aggregated'],
    pointers: ['/answer/body/resources', '/answer/body/items/0/versions/0/resources/*/subresources'],
    reason: 'services/proxy and serviceaccounts/token are not served',
  },
  {
    scenarios: ['discovery'],
    steps: ['the resources of apiextensions.k8s.io'],
    pointers: ['/answer/body/resources/0/storageVersionHash'],
    reason: 'a real server computes this hash from the version in which CRDs were once stored',
  },
  {
    scenarios: ['custom-definitions-refused'],
    pointers: [MESSAGE, CAUSE_MESSAGES, `${CAUSES}/*/reason`],
    reason: 'what is wrong with a schema is told in the words of skep validate',
  },
  {
    scenarios: ['custom-definitions-refused'],
    steps: ['$ref', 'oldSelf below a list that is no map', 'no version that is stored'],
    pointers: [CAUSES],
    reason: 'one cause for one fault: a real server names what follows from it too, or leaves it out',
  },
  {
    scenarios: ['custom-definitions-refused'],
    steps: ['a rule that may cost too much'],
    pointers: ['/answer/**'],
    reason: 'the cost of rules is not estimated: a definition whose rules are too costly is taken here',
  },
  {
    scenarios: ['custom-table'],
    pointers: ['/answer/body/rows/0/cells/8'],
    reason: "a real server finds nothing at .spec.deep['a.b'], as its JSONPath takes the dot for a step",
  },
  {
    scenarios: ['custom-validation'],
    steps: ['a fraction for an integer', 'oneOf: none', 'oneOf: both', 'not'],
    pointers: [MESSAGE, `${CAUSES}/**`],
    reason: 'told at its place, once; a real server tells of alternatives at no place (<nil>) and of formats twice',
  },
  {
    scenarios: ['custom-validation'],
    steps: ['another version'],
    pointers: ['/answer/headers/warning'],
    reason: 'a real server warns of fields that it would have known in the right version',
  },
  {
    scenarios: ['custom-rules'],
    steps: ['a list above its limit hides the rules of its items'],
    pointers: [MESSAGE, `${CAUSES}/**`],
    reason: 'too many items do not hide what rules say: an author sees both',
  },
];

export function isKnown(known: KnownDifference, scenario: string, difference: Difference): boolean {
  if (known.scenarios?.includes(scenario) === false) return false;
  if (known.steps?.includes(difference.reason) === false) return false;
  const start = known.startsWith === undefined ? undefined : JSON.stringify(known.startsWith).slice(0, -1);
  if (start !== undefined && !(difference.real.startsWith(start) && difference.ours.startsWith(start))) return false;
  return known.pointers.some((pattern) => pointerMatches(pattern, difference.pointer));
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
