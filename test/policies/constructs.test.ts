// What is said offline of every construct and expression, against what an API server has answered (test/cluster asks it
// again). What cannot be evaluated here must be said to be so.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { builtinAsAdmitted } from '#kubernetes/rules/policy/admitted.ts';
import { createEvaluator, type PolicyResult } from '#kubernetes/rules/policy/evaluator.ts';
import { readPolicies } from '#kubernetes/rules/policy/read.ts';
import { definedTypes, resourceTable } from '#kubernetes/rules/policy/resource-types.ts';
import { compileStructural } from '#kubernetes/rules/structural/structural.ts';
import type { JsonObject } from '#std/json.ts';
import { type Construct, constructs, DEFINITION, GROUP, THINGS } from './construct.ts';

const CONSTRUCTS = constructs('probe');
const EXPRESSIONS: { object: JsonObject; results: [expression: string, result: string][] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'expressions.json'), 'utf8'),
);
const things = compileStructural(THINGS);

/** Where we say something else, and why that does no harm. */
const DEVIATIONS: Readonly<Record<string, string>> = {
  // A literal that does not fit its clause fails when it is evaluated, not before.
  "'%s'.format([]) == ''": 'error',
};

function admitted(object: KubeObject): KubeObject {
  const json: unknown = object;
  return object.kind === 'Thing' ? (things.withDefaults(json as JsonObject) as KubeObject) : builtinAsAdmitted(object);
}

function answerFor({ policy, binding, namespace, objects, probe }: Omit<Construct, 'name' | 'answer'>): string {
  const text = [policy, binding].map((object) => JSON.stringify(object)).join('\n---\n');
  const { set, problems } = readPolicies([{ path: 'policy.yaml', text }]);
  if (problems.some(({ severity }) => severity === 'error')) return 'refused';
  const evaluator = createEvaluator(set, {
    typeOf: resourceTable(definedTypes(DEFINITION)),
    namespace: () => ({ type: 'known', object: namespace }),
    params: (_, kind) => ({
      namespaced: true,
      objects: objects.filter((object) => object.kind === kind),
      complete: true,
    }),
  });
  return answerOf(evaluator(admitted(probe)));
}

function answerOf({ violations, unknown }: PolicyResult): string {
  const denial = violations.find(({ action }) => action === 'Deny');
  if (denial === undefined) return unknown.length > 0 ? 'unknown' : 'admitted';
  const failed = /resulted in error|failed to configure binding/.test(denial.message);
  return failed ? 'error' : `denied: ${denial.message}`;
}

describe('constructs', () => {
  test.each(CONSTRUCTS)('$name: $answer', (construct) => {
    expect(answerFor(construct)).toBe(construct.answer);
  });
});

describe('expressions', () => {
  test.each(EXPRESSIONS.results)('%s: %s', (expression, result) => {
    const [first] = CONSTRUCTS;
    if (first === undefined) throw new Error('there are constructs');
    const { id } = first;
    const answer = answerFor({
      ...first,
      policy: { ...first.policy, spec: { ...(first.policy.spec as object), validations: [{ expression }] } },
      namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: id, labels: { team: 'blue' } } },
      probe: {
        apiVersion: `${GROUP}/v1`,
        kind: 'Thing',
        metadata: { name: 'probe', namespace: id, labels: { app: 'probe' } },
        spec: EXPRESSIONS.object,
      },
    });
    const words = { admitted: 'true', refused: 'refused', error: 'error', unknown: 'unknown' };
    const said = words[answer as keyof typeof words] ?? 'false';
    expect([DEVIATIONS[expression] ?? result, 'unknown']).toContain(said);
    // Of everything in the list, nothing else cannot be evaluated here.
    expect(said === 'unknown').toBe(/\[\?object|\{\?'/.test(expression) && !/labels'\]|\[\?7/.test(expression));
  });
});
