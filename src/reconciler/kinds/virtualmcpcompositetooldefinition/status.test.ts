// Tests the status of a composite tool definition for findings of a run.

import { describe, expect, it } from 'vitest';
import { isObject } from '#std/json.ts';
import type { Finding, Resource } from '../kind.ts';
import { VirtualMCPCompositeToolDefinition as KIND } from './index.ts';

const RESOURCE: Resource = {
  apiVersion: 'toolhive.stacklok.dev/v1alpha1',
  kind: 'VirtualMCPCompositeToolDefinition',
  metadata: { name: 'work', namespace: 'tools', generation: 3 },
  spec: { name: 'work', description: 'Works.', steps: [{ id: 'a', type: 'tool', tool: 'web.fetch' }] },
};
const VIEW = { find: () => undefined, all: () => [] };

function statusOf(refusals: readonly Finding[]) {
  return KIND.status(RESOURCE, { view: VIEW, refusals, failures: [], now: '2026-11-21T12:00:00Z' });
}

function conditionOf(refusals: readonly Finding[], type: string) {
  const { conditions } = statusOf(refusals);
  return Array.isArray(conditions) ? conditions.filter(isObject).find((each) => each.type === type) : undefined;
}

function refusal(code: string, message = 'is wrong'): Finding {
  return { code, severity: 'error', pointer: '/spec/steps/0/message', message };
}

it('is Invalid and lists every error with its field', () => {
  const refusals = [refusal('workflow-template-invalid', 'is open'), refusal('workflow-step-unknown', 'names nobody')];
  expect(statusOf(refusals)).toMatchObject({
    observedGeneration: 3,
    validationStatus: 'Invalid',
    validationErrors: ['spec.steps[0].message: is open', 'spec.steps[0].message: names nobody'],
    referencingVirtualServers: [],
  });
  expect(conditionOf(refusals, 'Ready')).toMatchObject({ status: 'False', reason: 'WorkflowNotReady' });
});

describe('the reason', () => {
  it.each([
    [['workflow-schema-invalid', 'workflow-output-invalid'], 'SchemaInvalid'],
    [['workflow-template-invalid', 'workflow-expression-invalid'], 'TemplateInvalid'],
    [['workflow-dependency-cycle'], 'DependencyCycle'],
    [['workflow-dependency-cycle', 'workflow-template-invalid'], 'ValidationFailed'],
    [['workflow-step-duplicate'], 'ValidationFailed'],
    [['workflow-step-duplicate', 'workflow-schema-invalid'], 'ValidationFailed'],
  ])('of %j is %s', (codes, reason) => {
    const refusals = codes.map((code) => refusal(code));
    expect(conditionOf(refusals, 'WorkflowValidated')).toMatchObject({ status: 'False', reason });
  });
});

it("limits the length of a condition's message", () => {
  const many = Array.from({ length: 2000 }, () => refusal('workflow-step-unknown', 'names nobody'));
  const message = conditionOf(many, 'WorkflowValidated')?.message;
  expect(message).toMatch(/ \.\.\.$/);
  expect(message).toHaveLength(32_768);
});
