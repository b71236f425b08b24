// Finds values that the templates of a workflow read and that do not exist when they are read.

import { isObject, type JsonObject, pointerToken } from '#std/json.ts';
import { type Dependencies, suggestion } from './dependencies.ts';
import { place, type ReadExpression } from './templates.ts';
import { problem, type Workflow, type WorkflowFinding, type WorkflowStep, warning } from './workflow.ts';

interface WorkflowContext {
  readonly workflow: Workflow;
  readonly dependencies: Dependencies;
}

/** A value that a template reads, with the template. */
interface WorkflowRead {
  readonly path: readonly string[];
  readonly from: ReadExpression;
  /** The path of the value and its position in the template, for messages. */
  readonly shown: string;
}

/** Checks the values that a template reads. Each value and each step has at most one finding. */
export function readFindings(context: WorkflowContext, from: ReadExpression): readonly WorkflowFinding[] {
  const values = new Map(from.reads.toReversed().map((read) => [JSON.stringify(read.path), read]));
  const readings = [...values.values()].toReversed().map(({ path, at }): WorkflowRead => {
    return { path, from, shown: `.${path.join('.')} (${place(from.text, at)})` };
  });
  const steps = new Map(readings.toReversed().flatMap((reading) => ofStep(reading).map((id) => [id, reading])));
  return [
    ...readings.flatMap((reading) => valueFindings(context, reading)),
    ...[...steps].toReversed().flatMap(([id, reading]) => stepFindings(context, reading, id)),
  ];
}

/** Returns the id of the step whose result is read. Returns an empty list for all other values. */
function ofStep({ path }: WorkflowRead): readonly string[] {
  return path[0] === 'steps' ? path.slice(1, 2) : [];
}

function valueFindings({ workflow }: WorkflowContext, reading: WorkflowRead): readonly WorkflowFinding[] {
  const { path, from, shown } = reading;
  const [root, name] = path;
  const roots = ['params', 'steps', 'workflow', ...(from.item === undefined ? [] : ['forEach'])];
  if (root !== undefined && !roots.includes(root)) {
    const message = `${shown} does not exist: a template sees ${roots.map((each) => `.${each}`).join(', ')}`;
    return [warning('workflow-value-unknown', from.pointer, message)];
  }
  if (name === undefined) return [];
  if (root === 'params') return parameterFindings(workflow, reading, name);
  if (root === 'forEach') return loopFindings(reading, name);
  return root === 'steps' ? [...memberFindings(reading), ...answerFindings(workflow, reading)] : [];
}

function parameterFindings(
  workflow: Workflow,
  { from, shown }: WorkflowRead,
  name: string,
): readonly WorkflowFinding[] {
  const { declared, isOpen } = propertiesOf(workflow.parameters);
  if (declared.includes(name) || isOpen) return [];
  const message = `${shown} is not a property of parameters${suggestion(name, declared)}`;
  return [warning('workflow-value-unknown', from.pointer, message)];
}

function propertiesOf(schema: JsonObject = {}): { readonly declared: readonly string[]; readonly isOpen: boolean } {
  const { properties, additionalProperties, patternProperties } = schema;
  const isOpen = additionalProperties === true || isObject(additionalProperties) || patternProperties !== undefined;
  return { declared: isObject(properties) ? Object.keys(properties) : [], isOpen };
}

/** The fields of the output of an elicitation. `skipped` exists if the workflow continued without an answer. */
const ANSWER_MEMBERS = ['action', 'content', 'skipped'];

/** Checks whether a value of an elicitation's output exists. Its `content` contains the fields of the user's answer. */
function answerFindings({ steps }: Workflow, { path, from, shown }: WorkflowRead): readonly WorkflowFinding[] {
  const [, id, member, field, part] = path;
  const asked = steps.find((step) => step.id === id);
  if (asked?.type !== 'elicitation' || member !== 'output' || field === undefined) return [];
  const { schema, defaultResults = {} } = asked;
  const { declared, isOpen } = propertiesOf(schema);
  const code = 'workflow-value-unknown';
  if (!ANSWER_MEMBERS.includes(field) && !Object.hasOwn(defaultResults, field)) {
    const remedy = declared.includes(field) ? `: read .steps.${id}.output.content.${field}` : '';
    const message = `${shown} does not exist: the output of an elicitation has action and content${remedy}`;
    return [warning(code, from.pointer, message)];
  }
  const { content } = defaultResults;
  if (field !== 'content' || part === undefined || schema === undefined || isOpen) return [];
  if (declared.includes(part) || (isObject(content) && Object.hasOwn(content, part))) return [];
  return [
    warning(code, from.pointer, `${shown} is not a property of the schema of step ${id}${suggestion(part, declared)}`),
  ];
}

function loopFindings({ from, shown }: WorkflowRead, name: string): readonly WorkflowFinding[] {
  const { item = '' } = from;
  if (name === item || name === 'index') return [];
  const message = `${shown} does not exist: a loop sees .forEach.${item} and .forEach.index`;
  return [warning('workflow-value-unknown', from.pointer, message)];
}

const STEP_MEMBERS = ['status', 'output', 'content', 'error'];

function memberFindings({ path, from, shown }: WorkflowRead): readonly WorkflowFinding[] {
  const [, , member] = path;
  if (member === undefined || STEP_MEMBERS.includes(member)) return [];
  const message = `${shown} does not exist: a template sees of a step ${STEP_MEMBERS.join(', ')}`;
  return [warning('workflow-value-unknown', from.pointer, message)];
}

function stepFindings(context: WorkflowContext, reading: WorkflowRead, id: string): readonly WorkflowFinding[] {
  const { before } = context.dependencies;
  if (before.has(id)) return awaitedFindings(context, reading, id);
  const { from, shown } = reading;
  const message = `${shown}: there is no step ${id}${suggestion(id, before.keys())}`;
  return [problem('workflow-step-unknown', from.pointer, message)];
}

/**
 * Checks that a step reads only results of steps that have ended. The output of the workflow is created after all
 * steps, so it can read all results.
 */
function awaitedFindings(
  { dependencies }: WorkflowContext,
  { from }: WorkflowRead,
  id: string,
): readonly WorkflowFinding[] {
  const reader = from.step?.id;
  const { before, levels } = dependencies;
  if (reader === undefined || before.get(reader)?.has(id) === true) return [];
  const code = 'workflow-step-not-awaited';
  if (reader === id) return [problem(code, from.pointer, `step ${id} reads its own result, which does not exist yet`)];
  if (before.get(id)?.has(reader) === true) {
    return [problem(code, from.pointer, `step ${reader} reads the result of ${id}, which only starts after it`)];
  }
  const message = `step ${reader} reads the result of ${id}, which may not be done by then: add ${id} to its dependsOn`;
  const [its, own] = [levels.get(id), levels.get(reader)];
  // ToolHive runs steps level by level, so the results of lower levels exist.
  const lucky = its !== undefined && own !== undefined && its < own;
  return [lucky ? warning(code, from.pointer, message) : problem(code, from.pointer, message)];
}

/** Checks defaultResults. `pointer`: pointer of the list of steps. */
export function defaultFindings(
  { steps }: Workflow,
  expressions: readonly ReadExpression[],
  pointer: string,
): readonly WorkflowFinding[] {
  return steps.flatMap((step, index) => {
    const why = whySkipped(step);
    if (why === undefined) return [];
    const at = `${pointer}/${index}/defaultResults`;
    return missingDefaults(step, expressions).map(({ field, reader }) => {
      const what = field === undefined ? 'its output' : `${field} of its output`;
      const give = field === undefined ? 'give defaultResults' : `give ${field} in defaultResults`;
      return problem(
        'workflow-default-results-missing',
        at,
        `step ${step.id} ${why}, and ${reader} reads ${what}: ${give}`,
      );
    });
  });
}

function whySkipped({ condition, onError }: WorkflowStep): string | undefined {
  if (condition !== undefined) return 'is skipped if its condition is false';
  return onError?.action === 'continue' ? 'may fail without ending the workflow' : undefined;
}

interface MissingDefault {
  /** Not set if the whole output is read and the step has no defaults. */
  readonly field?: string;
  readonly reader: string;
}

function missingDefaults(step: WorkflowStep, expressions: readonly ReadExpression[]): readonly MissingDefault[] {
  const defaults = step.defaultResults;
  const missing = new Map<string, MissingDefault>();
  for (const { reads, step: reader } of expressions) {
    for (const { path } of reads) {
      const [root, id, member, field] = path;
      if (root !== 'steps' || id !== step.id || member !== 'output' || reader?.id === step.id) continue;
      const given = field === undefined ? defaults !== undefined : defaults?.[field] !== undefined;
      const key = pointerToken(field ?? '');
      const name = reader === undefined ? 'the output of the workflow' : `step ${reader.id}`;
      if (!given && !missing.has(key)) missing.set(key, { field, reader: name });
    }
  }
  // If fields of the output are missing, a finding about the whole output is unnecessary.
  const fields = [...missing.values()].filter(({ field }) => field !== undefined);
  return fields.length > 0 ? fields : [...missing.values()];
}
