// Performs one try of a step of any kind.

import { fillDefaults } from '#contracts/virtual-model/schema/fill.ts';
import { misfitsOf } from '#contracts/virtual-model/schema/fit.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { type AttemptOutcome, failedTry, type Performed, tryStep } from './attempt.ts';
import type { AnswerAction, CompiledCall, CompiledStep, ElicitationStep, ForEachStep } from './definition.ts';
import { expandArguments, expandList, expandText } from './expand.ts';
import { keepResult, templateData, type WorkflowRun } from './state.ts';
import { readToolResult } from './tool-result.ts';

export function executeStep(run: WorkflowRun, step: CompiledStep, signal: AbortSignal): Promise<Performed> {
  switch (step.type) {
    case 'tool':
      return makeToolCall(run, step.id, step, () => templateData(run), signal);
    case 'elicitation':
      return askPerson(run, step, signal);
    case 'forEach':
      return callForEach(run, step, signal);
  }
}

async function makeToolCall(
  run: WorkflowRun,
  step: string,
  call: CompiledCall,
  data: () => JsonObject,
  signal: AbortSignal,
): Promise<Performed> {
  const schema = await run.ports.inputSchema(call.tool);
  const given = expandArguments(call.arguments, data(), schema);
  if (!given.ok) return failedTry(given.message, false);
  return readToolResult(call.tool, await run.ports.callTool(step, call.tool, given.value, signal));
}

async function askPerson(run: WorkflowRun, step: ElicitationStep, signal: AbortSignal): Promise<Performed> {
  const message = expandText(step.message, templateData(run));
  if (!message.ok) return failedTry(message.message, false);
  const answer = await run.ports.askPerson(message.value, step.schema, signal);
  switch (answer.action) {
    case 'failed':
      return failedTry(answer.message, false);
    case 'decline':
      return settleRefusal(step, 'decline', step.onDecline, 'the user declined');
    case 'cancel':
      return settleRefusal(step, 'cancel', step.onCancel, 'the user did not answer');
    case 'accept': {
      const content = fillDefaults(step.schema, answer.content);
      const [misfit] = misfitsOf(step.schema, content);
      if (misfit === undefined) return { kind: 'done', output: { action: 'accept', content } };
      return failedTry(`the answer does not fit the schema: ${misfit.pointer || 'it'} ${misfit.message}`, true);
    }
  }
}

/** Applies the configured action after the person declined or did not answer (ElicitationResponseConfig). */
function settleRefusal(
  { defaultResults = {} }: ElicitationStep,
  action: 'decline' | 'cancel',
  handling: AnswerAction | undefined,
  message: string,
): Performed {
  switch (handling) {
    case undefined:
      return failedTry(message, false);
    case 'abort':
      return { kind: 'failed', message, retryable: false, ends: true };
    case 'continue':
      return { kind: 'done', output: { ...defaultResults, action } };
    case 'skip_remaining':
      return { kind: 'done', output: { ...defaultResults, action, skipped: true }, skipRemaining: true };
  }
}

/** Result of a loop item, an entry of `iterations`. */
interface Iteration {
  readonly status: 'completed' | 'failed' | 'skipped' | 'cancelled';
  readonly output: Json;
  readonly error?: string;
}

interface Loop {
  readonly step: ForEachStep;
  readonly items: readonly Json[];
  readonly iterations: (Iteration | undefined)[];
  /** Aborted when an item ends the loop. */
  readonly signal: AbortSignal;
  next: number;
  done: number;
  fault: string | undefined;
  end(): void;
}

async function callForEach(run: WorkflowRun, step: ForEachStep, outer: AbortSignal): Promise<Performed> {
  const list = expandList(step.collection, templateData(run));
  if (!list.ok) return failedTry(list.message, false);
  const { length } = list.value;
  if (length > step.maxIterations) {
    return failedTry(`the collection has ${length} items, but maxIterations is ${step.maxIterations}`, false);
  }
  const own = new AbortController();
  const loop: Loop = {
    ...{ step, items: list.value, iterations: [], next: 0, done: 0, fault: undefined },
    signal: AbortSignal.any([outer, own.signal]),
    end: () => own.abort(),
  };
  await Promise.all(Array.from({ length: Math.min(step.maxParallel, length) }, () => workOff(run, loop)));
  if (loop.fault !== undefined) return failedTry(loop.fault, true);
  const iterations = loop.iterations.map((each, index) => ({ index, item: list.value[index] ?? null, ...each }));
  const count = (status: Iteration['status']) => iterations.filter((each) => each.status === status).length;
  const output = { iterations, count: length, completed: count('completed'), failed: count('failed') };
  return { kind: 'done', output: output as JsonObject };
}

async function workOff(run: WorkflowRun, loop: Loop): Promise<void> {
  while (loop.next < loop.items.length && !loop.signal.aborted) {
    const index = loop.next;
    loop.next += 1;
    const iteration = await callForItem(run, loop, index);
    loop.iterations[index] = iteration;
    loop.done += 1;
    run.ports.observe({ kind: 'step-progress', step: loop.step.id, share: loop.done / loop.items.length });
    if (!keepResult(run, iteration.output)) endLoop(loop, 'the results of the workflow are more than 64 MiB');
  }
}

function endLoop(loop: Loop, fault: string): void {
  loop.fault ??= fault;
  loop.end();
}

async function callForItem(run: WorkflowRun, loop: Loop, index: number): Promise<Iteration> {
  const { step, items, signal } = loop;
  const data = () => templateData(run, { [step.itemVar]: items[index] ?? null, index });
  const outcome = await tryStep({
    call: step.inner,
    ...{ clock: run.ports.clock, signal, data },
    retried: () => run.ports.observe({ kind: 'step-retried', step: step.id }),
    perform: (own) => makeToolCall(run, step.id, step.inner, data, own),
  });
  return iterationOf(loop, index, outcome);
}

function iterationOf(loop: Loop, index: number, outcome: AttemptOutcome): Iteration {
  const { step } = loop;
  switch (outcome.kind) {
    case 'done':
      return { status: 'completed', output: outcome.output };
    case 'skipped':
      return { status: 'skipped', output: outcome.output };
    case 'continued':
      return { status: 'failed', output: outcome.output, error: outcome.message };
    case 'cancelled':
      return { status: 'cancelled', output: {} };
    case 'aborted': {
      // Collects failures of items if the step has onError continue and the inner step does not have abort.
      const collects = step.action === 'continue' && step.innerAction !== 'abort';
      if (!collects) endLoop(loop, `item ${index}: ${outcome.message}`);
      return { status: 'failed', output: step.inner.defaultResults ?? {}, error: outcome.message };
    }
  }
}
