// Computes the status of a composite tool definition: whether it is valid, and which virtual servers name it.

import type { VirtualCode } from '#contracts/virtual-model/codes.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { type ConditionResult, conditionsOf, observedGeneration } from '../conditions.ts';
import type { Typed } from '../define.ts';
import type { Finding, Observed, View } from '../kind.ts';
import type { VirtualMCPCompositeToolDefinitionSpec, VirtualMCPCompositeToolDefinitionStatus } from './schema.ts';

type Status = Static<typeof VirtualMCPCompositeToolDefinitionStatus>;

export function status(self: Typed<typeof VirtualMCPCompositeToolDefinitionSpec>, observed: Observed): Status {
  const { refusals, view } = observed;
  const errors = refusals.map(({ pointer, message }) => `${fieldPath(pointer)}: ${message}`);
  const conditions = conditionsOf(self.resource, workflowConditions(refusals, errors.join('; ')), observed);
  return {
    ...observedGeneration(self.resource),
    validationStatus: errors.length === 0 ? 'Valid' : 'Invalid',
    validationErrors: errors.length === 0 ? undefined : errors,
    referencingVirtualServers: referencing(view, self.name),
    conditions,
  };
}

function workflowConditions(refusals: readonly Finding[], errors: string): readonly ConditionResult[] {
  if (refusals.length === 0) {
    const message = 'the workflow is valid';
    return [
      { type: 'WorkflowValidated', status: 'True', reason: 'ValidationSuccess', message },
      { type: 'Ready', status: 'True', reason: 'WorkflowReady', message },
    ];
  }
  return [
    { type: 'WorkflowValidated', status: 'False', reason: reasonOf(refusals), message: clipped(errors) },
    { type: 'Ready', status: 'False', reason: 'WorkflowNotReady', message: 'the workflow is not valid' },
  ];
}

/** Shortens the message to the limit in the conditions' schema. `validationErrors` contains the whole text. */
function clipped(message: string): string {
  const [most, end] = [32_768, ' ...'];
  return message.length <= most ? message : message.slice(0, most - end.length) + end;
}

const REASONS: ReadonlyMap<string, string> = new Map<VirtualCode, string>([
  ['workflow-schema-invalid', 'SchemaInvalid'],
  ['workflow-output-invalid', 'SchemaInvalid'],
  ['workflow-template-invalid', 'TemplateInvalid'],
  ['workflow-expression-invalid', 'TemplateInvalid'],
  ['workflow-dependency-cycle', 'DependencyCycle'],
]);

/** Returns the reason that all findings have, or a general reason if they have different reasons. */
function reasonOf(refusals: readonly Finding[]): string {
  const reasons = new Set(refusals.map(({ code }) => REASONS.get(code)));
  const [only] = reasons;
  return reasons.size === 1 && only !== undefined ? only : 'ValidationFailed';
}

/** Returns the names of the VirtualMCPServers that name the definition, sorted. */
function referencing(view: View, name: string): string[] {
  return view
    .all('VirtualMCPServer')
    .filter(({ spec }) => {
      const refs = isObject(spec) && isObject(spec.config) ? spec.config.compositeToolRefs : undefined;
      return Array.isArray(refs) && refs.some((ref) => isObject(ref) && ref.name === name);
    })
    .map(({ metadata }) => metadata.name)
    .sort();
}
