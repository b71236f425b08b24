// What is wrong with the workflows of a configuration: of those that a cluster renders, its own checks have said so before.
// Knows nothing about files.

import type { CompositeToolConfig } from '../../contracts/vmcp-config-tools.ts';
import type { Severity } from '../../std/problem.ts';
import { schemaFault } from '../../virtual/schema/fault.ts';
import { workflowFindings } from '../../virtual/workflow/check.ts';

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
      ...workflow.steps.flatMap((step, at) => stepFaults(step, `${pointer}/steps/${at}`)),
      ...schemaFaults(workflow, pointer),
      ...outputFaults(workflow, `${pointer}/output`),
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

type Step = CompositeToolConfig['steps'][number];

/** What a step of each type must have, and what only it may have. */
const NEEDS = { tool: ['tool'], elicitation: ['message'], forEach: ['collection', 'step'] } as const;
const MAY = {
  tool: ['tool', 'arguments'],
  elicitation: ['message', 'schema', 'onDecline', 'onCancel'],
  forEach: ['collection', 'step', 'itemVar', 'maxParallel', 'maxIterations'],
} as const;

function stepFaults(step: Step, pointer: string): readonly WorkflowFault[] {
  const needed = NEEDS[step.type].filter((field) => step[field] === undefined);
  const others = Object.values(MAY).flat();
  const own: readonly string[] = MAY[step.type];
  const foreign = others.filter((field) => step[field] !== undefined && !own.includes(field));
  return [
    ...needed.map((field) => fault(`${pointer}/${field}`, `must be set when type is '${step.type}'`)),
    ...foreign.map((field) => fault(`${pointer}/${field}`, `must not be set when type is '${step.type}'`)),
    ...retryFaults(step.onError, `${pointer}/onError`),
    ...retryFaults(step.step?.onError, `${pointer}/step/onError`),
    ...(step.itemVar === 'index'
      ? [fault(`${pointer}/itemVar`, 'must not be index: that is the number of the item')]
      : []),
  ];
}

function retryFaults(onError: Step['onError'], pointer: string): readonly WorkflowFault[] {
  if (onError?.action !== 'retry' || (onError.retryCount ?? 0) >= 1) return [];
  return [fault(`${pointer}/retryCount`, "must be at least 1 when action is 'retry'")];
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

function outputFaults({ output }: CompositeToolConfig, pointer: string): readonly WorkflowFault[] {
  const { properties = {}, required = [] } = output ?? {};
  const sources = Object.entries(properties).flatMap(([name, { type, value, properties: inner }]) => {
    const sound =
      type === 'object' ? (value === undefined) !== (inner === undefined) : value !== undefined && inner === undefined;
    const message =
      type === 'object'
        ? 'exactly one of value and properties must be set'
        : 'value must be set, and properties must not';
    return sound ? [] : [fault(`${pointer}/properties/${name}`, `${message} when type is '${type}'`)];
  });
  const unknown = required.filter((name) => !Object.hasOwn(properties, name));
  return [...sources, ...unknown.map((name) => fault(`${pointer}/required`, `names ${name}, which is no property`))];
}
