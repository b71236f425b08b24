// Finds faults of a workflow that its schema does not find.

import { dependenciesOf } from './dependencies.ts';
import { outputFindings } from './outputs.ts';
import { defaultFindings, readFindings } from './reads.ts';
import { parametersFindings, schemaFindings } from './schemas.ts';
import { deepFindings, expressionsOf, readExpression } from './templates.ts';
import { type ErrorHandling, problem, type Workflow, type WorkflowFinding, warning } from './workflow.ts';

/** `pointer`: pointer of the workflow in its object. */
export function workflowFindings(workflow: Workflow, pointer: string): readonly WorkflowFinding[] {
  const dependencies = dependenciesOf(workflow.steps, `${pointer}/steps`);
  const read = expressionsOf(workflow, pointer).map(readExpression);
  const expressions = read.filter((each) => 'reads' in each);
  return [
    ...descriptionFindings(workflow, pointer),
    ...parametersFindings(workflow.parameters, `${pointer}/parameters`),
    ...workflow.steps.flatMap(({ schema }, index) => schemaFindings(schema, `${pointer}/steps/${index}/schema`)),
    ...dependencies.findings,
    ...errorHandlingFindings(workflow, pointer),
    ...read.filter((each) => 'code' in each),
    ...deepFindings(workflow, pointer),
    ...expressions.flatMap((expression) => readFindings({ workflow, dependencies }, expression)),
    ...defaultFindings(workflow, expressions, `${pointer}/steps`),
    ...outputFindings(workflow, pointer),
  ];
}

function descriptionFindings({ description }: Workflow, pointer: string): readonly WorkflowFinding[] {
  if (description !== undefined && description.trim() !== '') return [];
  const message = 'description is missing: clients choose tools by it';
  return [problem('workflow-description-missing', `${pointer}/description`, message)];
}

/** ToolHive's maximum number of retries of a step. */
const MAX_RETRIES = 10;

function errorHandlingFindings({ steps }: Workflow, pointer: string): readonly WorkflowFinding[] {
  return steps.flatMap(({ onError, step }, index) => [
    ...retryFindings(onError, `${pointer}/steps/${index}/onError`),
    ...retryFindings(step?.onError, `${pointer}/steps/${index}/step/onError`),
  ]);
}

function retryFindings(handling: ErrorHandling | undefined, pointer: string): readonly WorkflowFinding[] {
  const { action, retryCount = 0, retryDelay } = handling ?? {};
  const code = 'workflow-setting-unused';
  if (action === 'retry') {
    if (retryCount <= MAX_RETRIES) return [];
    return [
      warning(code, `${pointer}/retryCount`, `retryCount counts as ${MAX_RETRIES}: no step is tried more often again`),
    ];
  }
  return [
    ...(retryCount > 0
      ? [warning(code, `${pointer}/retryCount`, "retryCount has no effect: action is not 'retry'")]
      : []),
    ...(retryDelay !== undefined
      ? [warning(code, `${pointer}/retryDelay`, "retryDelay has no effect: action is not 'retry'")]
      : []),
  ];
}
