// Tests files of policies: accepted objects, and the problems of refused objects with their places.

import { expect, test } from 'vitest';
import { formatProblem } from '#std/problem.ts';
import { readPolicies } from './read.ts';

const POLICY = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations:
    - expression: object.spec.replicas < 5
`;
const BINDING = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small}
spec: {policyName: small, validationActions: [Deny]}
`;

const LATER = POLICY.replace('replicas < 5', 'replicas < 9');

function problemsOf(...texts: string[]): string[] {
  return readPolicies(texts.map((text, index) => ({ path: `${index}.yaml`, text }))).problems.map(formatProblem);
}

test('policies, bindings and other objects', () => {
  const beside = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: params, namespace: default}\n';
  const { set, problems } = readPolicies([{ path: 'all.yaml', text: [POLICY, BINDING, beside].join('---\n') }]);
  expect(problems).toEqual([]);
  expect(set.policies.map(({ name, failure }) => `${name} ${failure}`)).toEqual(['small Fail']);
  expect(set.bindings.map(({ policyName, actions }) => `${policyName} ${actions}`)).toEqual(['small Deny']);
  expect(set.objects.map(({ kind }) => kind)).toEqual(['ConfigMap']);
  expect(set.places.get('small')).toEqual({ file: 'all.yaml', line: 3, column: 18 });
});

test('a repeated object replaces the earlier object', () => {
  const { set } = readPolicies([POLICY, BINDING, LATER].map((text, index) => ({ path: `${index}.yaml`, text })));
  expect(set.policies.map(({ validations }) => validations[0]?.expression)).toEqual(['object.spec.replicas < 9']);
});

test.each([
  [
    'an expression that does not compile',
    POLICY.replace('replicas < 5', 'replicas <'),
    /^0\.yaml:8:19: error policy-expression: /,
  ],
  ['a result that may be anything', POLICY.replace(' < 5', ''), /must evaluate to bool, but evaluates to dyn/],
  ['an unknown field', POLICY.replace('validations:', 'validation:'), /error schema-unknown-field: .*validations/],
  [
    'a wildcard beside a name',
    POLICY.replace('[deployments]', '["*/*", deployments]'),
    /^0\.yaml:6:.*error policy-invalid: .*resources must have no other entry/,
  ],
  ['an older version', POLICY.replace('io/v1', 'io/v1beta1'), /is read in admissionregistration.k8s.io\/v1, not in/],
  ['a kind that is not evaluated', POLICY.replace('kind: Validating', 'kind: Mutating'), /cannot be evaluated without/],
  ['no name', POLICY.replace('name: small', 'labels: {}'), /metadata\.name is missing/],
  ['no object', 'just text\n', /holds Kubernetes objects/],
  ['a policy that nothing binds', POLICY, /^0\.yaml:3:18: warning policy-unbound: No binding names policy "small"/],
])('%s', (_, text, problem) => {
  expect(problemsOf(text).join('\n')).toMatch(problem);
});

test('warns about a policy for deletions only', () => {
  expect(problemsOf(POLICY.replace('CREATE', 'DELETE'), BINDING)).toEqual([
    '0.yaml:6:20: warning policy-not-evaluated: Policy "small" does not apply to creations, so only an API server evaluates it.',
  ]);
});

test('warns about a binding to an unknown policy', () => {
  expect(problemsOf(POLICY, BINDING, BINDING.replaceAll('small', 'large'))).toEqual([
    '2.yaml:4:20: warning policy-unbound: There is no policy "large" in these files: the binding has no effect.',
  ]);
});
