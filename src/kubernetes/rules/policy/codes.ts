// Defines the codes of findings about policies. Violations have the code `policy/` and the policy's name, so their
// codes cannot be listed.

export const POLICY_CODES = {
  'policy-invalid':
    'An API server would refuse the ValidatingAdmissionPolicy or its binding, or the file of policies is not one. The message names the fault: correct the file, or name another file.',
  'policy-expression':
    'An expression of a ValidatingAdmissionPolicy does not compile, or has a result of another type than required; an API server would refuse it.',
  'policy-unbound':
    'A policy that no binding names, or a binding that names no policy of the same files, has no effect. Add the binding, correct `policyName`, or name both files.',
  'policy-not-evaluated':
    'A policy needs facts that only an API server knows (the user, permissions, labels of a namespace that is not in the manifests). The API server will evaluate it.',
} as const;

export type PolicyCode = keyof typeof POLICY_CODES;
