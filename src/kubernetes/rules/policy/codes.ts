// Defines the codes of findings about policies, and of violations that policies find. The code of a violation is
// `policy/` and the name of the policy, so these codes cannot be listed.

export const POLICY_CODES = {
  'policy-invalid':
    'An API server would refuse the ValidatingAdmissionPolicy or its binding, or the file of policies is not one. The message says what is wrong with it: correct the file, or name the right one.',
  'policy-expression':
    'An expression of a ValidatingAdmissionPolicy does not compile, or gives another type than it must; an API server would refuse it.',
  'policy-unbound':
    'A policy that no binding names, or a binding that names no policy of the same files, has no effect. Add the binding, correct `policyName`, or give both files.',
  'policy-not-evaluated':
    'What a policy asks for is known to an API server only (who asks, what they may do, labels of a namespace that is not in the manifests); there it will be evaluated.',
} as const;

export type PolicyCode = keyof typeof POLICY_CODES;
