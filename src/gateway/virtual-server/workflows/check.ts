// Finds faults in configured workflows beyond the checks of the configuration schema.

import { schemaFault } from '#contracts/virtual-model/schema/fault.ts';
import { workflowFindings } from '#contracts/virtual-model/workflow/check.ts';
import type { CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import type { Severity } from '#std/problem.ts';

export interface WorkflowFault {
  readonly pointer: string;
  readonly message: string;
  readonly severity: Severity;
}

export function workflowFaults(workflows: readonly CompositeToolConfig[]): readonly WorkflowFault[] {
  return workflows.flatMap((workflow, index) => {
    const pointer = `/compositeTools/${index}`;
    return [
      ...nameFaults(workflows, index),
      ...schemaFaults(workflow, pointer),
      ...workflowFindings(workflow, pointer),
    ];
  });
}

function fault(pointer: string, message: string): WorkflowFault {
  return { pointer, message, severity: 'error' };
}

function nameFaults(workflows: readonly CompositeToolConfig[], index: number): readonly WorkflowFault[] {
  const name = workflows[index]?.name ?? '';
  if (workflows.findIndex((each) => each.name === name) === index) return [];
  return [fault(`/compositeTools/${index}/name`, `is ${name}, which another workflow has already`)];
}

function schemaFaults({ parameters, steps }: CompositeToolConfig, pointer: string): readonly WorkflowFault[] {
  const schemas = [
    { schema: parameters, at: `${pointer}/parameters` },
    ...steps.map(({ schema }, index) => ({ schema, at: `${pointer}/steps/${index}/schema` })),
  ];
  return schemas.flatMap(({ schema, at }) => {
    const message = schemaFault(schema);
    return message === undefined ? [] : [fault(at, message)];
  });
}
