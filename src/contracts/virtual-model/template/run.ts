// Runs a Go template like text/template of Go, within a budget. Source: Go 1.26, text/template. Numbers behave
// differently than in Go: see values.ts, compare.ts and printf.ts.

import type { JsonObject } from '#std/json.ts';
import { type Budget, newBudget, spendStep, spendText, stop, stopMessage } from './budget.ts';
import { callFunction } from './functions.ts';
import type { Branch, Command, Operand, Pipeline, Template, TemplateNode } from './nodes.ts';
import { printValue } from './text.ts';
import { fromData, isList, isMap, isTruthy, member, sortedKeys, typeName, type Value } from './values.ts';

export type RunTemplate =
  | { readonly text: string }
  /** The message has no full stop. `at` is a UTF-16 index into the template. */
  | { readonly fault: { readonly message: string; readonly at: number } };

export function runTemplate({ nodes, definitions }: Template, data: JsonObject): RunTemplate {
  const place = { at: 0 };
  const out: string[] = [];
  const run = { definitions, budget: newBudget(), place, out, dot: data, variables: [{ name: '$', value: data }] };
  try {
    walkAll(run, nodes);
    return { text: out.join('') };
  } catch (error) {
    const message = stopMessage(error);
    if (message === undefined) throw error;
    return { fault: { message, at: place.at } };
  }
}

interface TemplateVariable {
  readonly name: string;
  value: Value;
}

interface TemplateRun {
  readonly definitions: Template['definitions'];
  readonly budget: Budget;
  /** Position of the current node in the template. */
  readonly place: { at: number };
  readonly out: string[];
  readonly dot: Value;
  /** If several variables have the same name, the last one is used. */
  readonly variables: TemplateVariable[];
}

type Walked = 'on' | 'break' | 'continue';

function walkAll(run: TemplateRun, nodes: readonly TemplateNode[]): Walked {
  for (const node of nodes) {
    const walked = walkNode(run, node);
    if (walked !== 'on') return walked;
  }
  return 'on';
}

function walkNode(run: TemplateRun, node: TemplateNode): Walked {
  run.place.at = node.at;
  spendStep(run.budget);
  switch (node.type) {
    case 'text':
      write(run, node.text);
      return 'on';
    case 'action': {
      const value = runPipeline(run, node.pipeline);
      if (node.pipeline.variables.length === 0) write(run, value === undefined ? '<no value>' : printValue(value));
      return 'on';
    }
    case 'template':
      callTemplate(run, node);
      return 'on';
    case 'break':
    case 'continue':
      return node.type;
    default:
      return walkBranch(run, node);
  }
}

function write({ budget, out }: TemplateRun, text: string): void {
  out.push(spendText(budget, text));
}

function walkBranch(run: TemplateRun, branch: Branch): Walked {
  const outside = run.variables.length;
  run.budget.nested -= 1;
  if (run.budget.nested < 0) stop('its parts are nested too deeply');
  const walked = branch.type === 'range' ? walkLoop(run, branch) : walkChoice(run, branch);
  run.variables.length = outside;
  run.budget.nested += 1;
  return walked;
}

function walkChoice(run: TemplateRun, { type, pipeline, body, otherwise }: Branch): Walked {
  const value = runPipeline(run, pipeline);
  if (!isTruthy(value)) return walkAll(run, otherwise);
  return walkAll(type === 'with' ? { ...run, dot: value } : run, body);
}

function callTemplate(run: TemplateRun, { name, pipeline }: Extract<TemplateNode, { type: 'template' }>): void {
  const nodes = run.definitions.get(name) ?? stop(`the template ${name} is not defined`);
  const dot = pipeline === undefined ? undefined : runPipeline(run, pipeline);
  run.budget.depth -= 1;
  if (run.budget.depth < 0) stop('templates call one another more than 100 deep');
  walkAll({ ...run, dot, variables: [{ name: '$', value: dot }] }, nodes);
  run.budget.depth += 1;
}

interface Item {
  readonly key: Value;
  readonly value: Value;
}

function walkLoop(run: TemplateRun, { pipeline, body, otherwise }: Branch): Walked {
  const { variables, assigns } = pipeline;
  const over = runPipeline(run, pipeline);
  const inside = run.variables.length;
  let count = 0;
  for (const { key, value } of loopItems(run, over, variables.length)) {
    count += 1;
    spendStep(run.budget);
    const [first, second] = variables;
    if (first !== undefined) setVariable(run, inside, first, second === undefined ? value : key, assigns);
    if (second !== undefined) setVariable(run, inside, second, value, assigns);
    const walked = walkAll({ ...run, dot: value }, body);
    run.variables.length = inside;
    if (walked === 'break') break;
  }
  return count === 0 ? walkAll(run, otherwise) : 'on';
}

/** Sets a variable. If `assigns` is false, searches only the loop's own variables: the last two before index `end`. */
function setVariable(run: TemplateRun, end: number, name: string, value: Value, assigns: boolean): void {
  const known = run.variables.slice(assigns ? 0 : Math.max(0, end - 2), assigns ? undefined : end);
  const variable = known.findLast((each) => each.name === name);
  if (variable === undefined) stop(`the variable ${name} is not declared`);
  else variable.value = value;
}

function* loopItems(run: TemplateRun, value: Value, declared: number): Generator<Item> {
  if (value === undefined || value === null) return;
  if (typeof value === 'bigint') {
    if (declared > 1) stop('range over a number declares one variable at most');
    for (let each = 0n; each < value; each += 1n) yield { key: undefined, value: each };
  } else if (isList(value)) {
    for (let at = 0; at < value.length; at += 1) yield { key: BigInt(at), value: fromData(value[at]) };
  } else if (isMap(value)) {
    run.budget.steps -= Object.keys(value).length;
    for (const key of sortedKeys(value)) yield { key, value: member(value, key) };
  } else {
    stop(`range goes over lists, maps and whole numbers, not over a value of type ${typeName(value)}`);
  }
}

/** Runs a pipeline. Returns undefined if its value is null. */
function runPipeline(run: TemplateRun, { variables, assigns, commands }: Pipeline): Value {
  let piped: { readonly value: Value } | undefined;
  for (const command of commands) piped = { value: evaluateCommand(run, command, piped) ?? undefined };
  const value = piped?.value;
  for (const name of variables) {
    if (assigns) setVariable(run, run.variables.length, name, value, true);
    else run.variables.push({ name, value });
  }
  return value;
}

type Piped = { readonly value: Value } | undefined;

function evaluateCommand(run: TemplateRun, { operands, at }: Command, piped: Piped): Value {
  run.place.at = at;
  spendStep(run.budget);
  const [first, ...rest] = operands;
  if (first === undefined) return stop('a command is empty');
  if (first.type === 'function') return evaluateCall(run, first.name, rest, piped);
  const isGiven = rest.length > 0 || piped !== undefined;
  if (first.type === 'nil') return stop('nil is not a command');
  if (isGiven && !takesArguments(run, first)) stop('a value that is not a function takes no argument');
  return evaluateOperand(run, first);
}

/** Returns true for a field of a value that does not exist: Go ignores the arguments of such a field. */
function takesArguments(run: TemplateRun, operand: Operand): boolean {
  const path =
    operand.type === 'field' || operand.type === 'variable' || operand.type === 'chain' ? operand.fields : [];
  if (path.length === 0) return false;
  const parent = { ...operand, fields: path.slice(0, -1) } as Operand;
  const above = path.length > 1 || operand.type !== 'field' ? evaluateOperand(run, parent) : run.dot;
  return above === undefined;
}

function evaluateCall(run: TemplateRun, name: string, given: readonly Operand[], piped: Piped): Value {
  if (name === 'and' || name === 'or') return evaluateLogic(run, name, given, piped);
  const values = given.map((operand) => evaluateOperand(run, operand));
  return callFunction(run.budget, name, piped === undefined ? values : [...values, piped.value]);
}

function evaluateLogic(run: TemplateRun, name: 'and' | 'or', given: readonly Operand[], piped: Piped): Value {
  if (given.length === 0 && piped === undefined) return stop(`${name} takes at least 1 value, not 0`);
  let value: Value;
  for (const operand of given) {
    value = evaluateOperand(run, operand);
    if (isTruthy(value) === (name === 'or')) return value;
  }
  return piped === undefined ? value : piped.value;
}

function evaluateOperand(run: TemplateRun, operand: Operand): Value {
  run.place.at = operand.at;
  spendStep(run.budget);
  switch (operand.type) {
    case 'dot':
      return run.dot;
    case 'nil':
      return null;
    case 'bool':
    case 'string':
      return operand.value;
    case 'number':
      return operand.value ?? stop('the number does not fit in 64 bits, or is a complex one');
    case 'function':
      return evaluateCall(run, operand.name, [], undefined);
    case 'field':
      return reach(run.dot, operand.fields);
    case 'variable':
      return reach(variableValue(run, operand.name), operand.fields);
    case 'pipeline':
      return runPipeline(run, operand.pipeline);
    case 'chain':
      return reach(evaluateOperand(run, operand.base), operand.fields);
  }
}

function variableValue({ variables }: TemplateRun, name: string): Value {
  const found = variables.findLast((each) => each.name === name);
  return found === undefined ? stop(`the variable ${name} is not declared`) : found.value;
}

/** Follows the fields one after another. Fields of undefined are undefined. Only maps have fields. */
function reach(from: Value, fields: readonly string[]): Value {
  let value = from;
  for (const field of fields) {
    if (value === undefined) return undefined;
    if (value === null) return stop(`${field} is read from a value that is null`);
    if (!isMap(value)) return stop(`a value of type ${typeName(value)} has no field ${field}`);
    value = member(value, field);
  }
  return value;
}
