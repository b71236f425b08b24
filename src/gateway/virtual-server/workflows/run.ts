// Runs a workflow. Steps start as soon as possible. The run ends when all steps are done, when a step ends it, after
// its time limit, or when the caller disconnects.

import type { JsonObject } from '#std/json.ts';
import { type AttemptOutcome, tryStep } from './attempt.ts';
import type { CompiledStep, Workflow } from './definition.ts';
import { makeOutput } from './output.ts';
import { executeStep } from './perform.ts';
import type { RunPorts, RunResult, StepEnd } from './ports.ts';
import { stepsToStart } from './schedule.ts';
import { keepResult, type StepState, templateData, type WorkflowRun } from './state.ts';

/** Maximum number of steps of a run that are running at one time. */
const PARALLEL = 10;

interface Ending {
  result: RunResult | undefined;
  skipRemaining: boolean;
}

/** Runs the workflow. `params` must fit the schema of the workflow. Never rejects. */
export async function runWorkflow(
  workflow: Workflow,
  params: JsonObject,
  ports: RunPorts,
  cancelled: AbortSignal,
): Promise<RunResult> {
  const { clock } = ports;
  const own = new AbortController();
  const ending: Ending = { result: undefined, skipRemaining: false };
  const run: WorkflowRun = {
    ...{ id: clock.random(9).toString('base64url'), workflow, params, ports, startedAt: clock.now(), size: 0 },
    signal: own.signal,
    steps: new Map(workflow.steps.map(({ id }): [string, StepState] => [id, { status: 'pending', output: {} }])),
  };
  const end = (result: RunResult) => {
    ending.result ??= result;
    own.abort();
  };
  const cancel = () => end({ kind: 'cancelled' });
  const stopTimer = clock.after(workflow.timeoutMs, () => end(timedOut(run)));
  cancelled.addEventListener('abort', cancel, { once: true });
  ports.observe({ kind: 'started', run: run.id });
  if (cancelled.aborted) cancel();
  await runSteps(run, ending, end);
  stopTimer();
  cancelled.removeEventListener('abort', cancel);
  const result = ending.result ?? settleOutput(run);
  ports.observe({ kind: 'ended', result });
  return result;
}

function timedOut({ workflow, steps }: WorkflowRun): RunResult {
  const waiting = [...steps].filter(([, { status }]) => status === 'running').map(([id]) => id);
  const message = `it took more than ${workflow.timeoutMs} ms; still running: ${waiting.join(', ')}`;
  return { kind: 'timed-out', message };
}

function settleOutput(run: WorkflowRun): RunResult {
  const outputOf = (id: string) => run.steps.get(id)?.output ?? {};
  const made = makeOutput(run.workflow, templateData(run), outputOf);
  return made.ok ? { kind: 'completed', output: made.value } : { kind: 'failed', message: made.message };
}

/** Runs the steps. Resolves when no step runs and no further step can start. */
function runSteps(run: WorkflowRun, ending: Ending, end: (result: RunResult) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const statusOf = (id: string) => run.steps.get(id)?.status ?? 'skipped';
  let running = 0;

  function advance(): void {
    if (ending.result === undefined && ending.skipRemaining) skipPending(run);
    const starting = ending.result === undefined ? stepsToStart(run.workflow.steps, statusOf, PARALLEL) : [];
    for (const step of starting) start(step);
    if (running === 0) resolve();
  }

  function start(step: CompiledStep): void {
    running += 1;
    setState(run, step, { status: 'running', output: {} });
    run.ports.observe({ kind: 'step-started', step: step.id });
    void runStep(run, step).then((outcome) => {
      running -= 1;
      settleStep(run, step, outcome, ending, end);
      advance();
    });
  }

  advance();
  return promise;
}

function runStep(run: WorkflowRun, step: CompiledStep): Promise<AttemptOutcome> {
  const { ports, signal } = run;
  return tryStep({
    call: step,
    ...{ clock: ports.clock, signal, data: () => templateData(run) },
    retried: () => ports.observe({ kind: 'step-retried', step: step.id }),
    timesOutItself: step.type === 'elicitation' ? true : undefined,
    perform: (own) => executeStep(run, step, own),
  });
}

function settleStep(
  run: WorkflowRun,
  step: CompiledStep,
  outcome: AttemptOutcome,
  ending: Ending,
  end: (result: RunResult) => void,
): void {
  switch (outcome.kind) {
    case 'done':
      setState(run, step, { status: 'completed', output: outcome.output, content: outcome.content });
      if (outcome.skipRemaining === true) ending.skipRemaining = true;
      reportEnd(run, step, 'completed');
      break;
    case 'skipped':
      setState(run, step, { status: 'skipped', output: outcome.output });
      reportEnd(run, step, 'skipped');
      break;
    case 'continued':
      setState(run, step, { status: 'failed', output: outcome.output, error: outcome.message });
      reportEnd(run, step, 'failed', outcome.message);
      break;
    case 'aborted':
      setState(run, step, { status: 'failed', output: {}, error: outcome.message });
      reportEnd(run, step, 'failed', outcome.message);
      end({ kind: 'failed', message: `step ${step.id}: ${outcome.message}` });
      return;
    case 'cancelled':
      reportEnd(run, step, 'cancelled');
      return;
  }
  if (!keepResult(run, outcome.output)) {
    end({ kind: 'failed', message: `step ${step.id}: the results of the workflow are more than 64 MiB` });
  }
}

/** Skips pending steps. Running steps continue (ElicitationResponseConfig). */
function skipPending(run: WorkflowRun): void {
  for (const step of run.workflow.steps) {
    if (run.steps.get(step.id)?.status !== 'pending') continue;
    setState(run, step, { status: 'skipped', output: step.defaultResults ?? {} });
    reportEnd(run, step, 'skipped');
  }
}

function setState({ steps }: WorkflowRun, { id }: CompiledStep, state: StepState): void {
  steps.set(id, state);
}

function reportEnd({ ports }: WorkflowRun, { id }: CompiledStep, end: StepEnd, message?: string): void {
  ports.observe({ kind: 'step-ended', step: id, end, ...(message === undefined ? {} : { message }) });
}
