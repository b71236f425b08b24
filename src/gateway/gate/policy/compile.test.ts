import { expect, test } from 'vitest';
import { compilePolicies } from './compile.ts';

const PERMIT = 'permit(principal, action, resource);';

test.each([
  { reason: 'a policy that is not Cedar', policies: ['permit('], entities: '[]', code: 'policy-file-invalid' },
  { reason: 'entities that are not a list', policies: [PERMIT], entities: '{}', code: 'policy-entities-invalid' },
  { reason: 'entities that are not JSON', policies: [PERMIT], entities: '[', code: 'policy-entities-invalid' },
])('refuses a file with $reason as $code', ({ policies, entities, code }) => {
  const compiled = compilePolicies({
    version: '1.0',
    type: 'cedarv1',
    cedar: { policies, entities_json: entities },
  });
  expect(compiled.ok ? [] : compiled.faults.map((fault) => fault.code)).toEqual([code]);
});
