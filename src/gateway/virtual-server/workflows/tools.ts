// Presents workflows as tools of the virtual server, and runs their calls.

import { fillDefaults } from '#contracts/virtual-model/schema/fill.ts';
import { misfitsOf } from '#contracts/virtual-model/schema/fit.ts';
import type { CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#std/json.ts';
import type { Exchange } from '../../backends/backend.ts';
import type { BackendClock } from '../../backends/ports.ts';
import type { BackendObserver } from '../../backends/sessions/observer.ts';
import { createSessionBackend } from '../../backends/sessions/sessions.ts';
import type { ToolHints } from '../../gate/policy/request.ts';
import type { Era } from '../../wire/revisions.ts';
import type { InnerCalls, OwnTool, OwnTools, ReachableTools } from '../own-tools/ports.ts';
import { annotateWorkflow, hintsOfDefinition } from './annotations.ts';
import { defineWorkflow, type Workflow } from './definition.ts';
import { openLine, type WorkflowCall } from './line.ts';
import { outputSchema } from './output.ts';
import type { RunEvent, RunPorts, RunResult, WorkflowClock } from './ports.ts';
import { runWorkflow } from './run.ts';
import { observeRun, type RunObserver, type RunObserverDeps, toolOf } from './run-observer.ts';

export interface WorkflowParts {
  readonly name: string;
  readonly version: string;
  readonly calls: InnerCalls;
  readonly clock: BackendClock & WorkflowClock;
  readonly observer: BackendObserver;
  readonly replica: string;
  /** Returns the workflows of the current configuration. */
  readonly workflows: () => readonly WorkflowTool[];
  /** Returns whether workflows that need an unavailable tool are hidden. */
  readonly hidesIncomplete: () => boolean;
  readonly runObserver: RunObserverDeps;
}

export interface WorkflowTool {
  readonly workflow: Workflow;
  readonly definition: JsonObject;
  readonly annotations: CompositeToolConfig['annotations'];
}

export function defineTools(configs: readonly CompositeToolConfig[]): readonly WorkflowTool[] {
  return configs.map((config) => {
    const workflow = defineWorkflow(config);
    return { workflow, definition: definitionOf(config, workflow), annotations: config.annotations };
  });
}

function definitionOf({ name, description, parameters, output }: CompositeToolConfig, workflow: Workflow): JsonObject {
  const schema = outputSchema(workflow, output?.properties as JsonObject | undefined);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: { type: 'object', properties: {}, ...parameters },
    ...(schema === undefined ? {} : { outputSchema: schema }),
  };
}

/**
 * No limit for silence, since a workflow may wait for a person or a long step. A client may disconnect for 10 minutes
 * while a question is open.
 */
const LIMITS = { silenceMs: 0, keptMs: 600_000 } as const;
const ERAS: ReadonlySet<Era> = new Set<Era>(['session']);

export function createWorkflowTools(parts: WorkflowParts): OwnTools {
  const { name, version, replica, clock, observer } = parts;
  const line = { name, version, call: (call: WorkflowCall) => callWorkflow(parts, call) };
  const backend = createSessionBackend({
    ...{ replica, clock, observer, limits: LIMITS },
    eras: () => ERAS,
    probe: async () => ({ available: true }),
    close: async () => undefined,
    open: async (exchange, handlers) => openLine(line, exchange, handlers),
  });
  const reported = new Set<string>();
  const report = (workflow: string, hint: string) => {
    if (reported.has(workflow)) return;
    reported.add(workflow);
    observer.log('warn', `workflow ${workflow} is not offered: its ${hint} promises more than the tools of its steps`);
  };
  return { backend, offer: (reachable) => offerTools(parts, reachable, report) };
}

function offerTools(
  { workflows, hidesIncomplete }: WorkflowParts,
  reachable: ReachableTools,
  report: (workflow: string, hint: string) => void,
): readonly OwnTool[] {
  const shown = workflows().filter(
    ({ workflow }) => !hidesIncomplete() || toolsOf(workflow).every((tool) => reachable.find(tool) !== undefined),
  );
  return shown.flatMap(({ workflow, definition, annotations: declared }): readonly OwnTool[] => {
    const { name } = workflow;
    if (declared === undefined) return [{ name, definition: Buffer.from(JSON.stringify(definition)) }];
    const annotated = annotateWorkflow(declared, toolsOf(workflow).map(hintsIn(reachable)));
    if ('annotations' in annotated) {
      return [{ name, definition: Buffer.from(JSON.stringify({ ...definition, annotations: annotated.annotations })) }];
    }
    report(name, annotated.contradicted);
    return [];
  });
}

function hintsIn(reachable: ReachableTools): (tool: string) => ToolHints | undefined {
  return (tool) => {
    const found = reachable.find(tool);
    return found === undefined ? undefined : hintsOfDefinition(found.definition);
  };
}

function toolsOf({ steps }: Workflow): readonly string[] {
  return steps.flatMap((step) => toolOf(step) ?? []);
}

async function callWorkflow(parts: WorkflowParts, call: WorkflowCall): Promise<JsonObject | undefined> {
  const found = parts.workflows().find(({ workflow }) => workflow.name === call.tool);
  if (found === undefined) return undefined;
  const { workflow } = found;
  const schema = workflow.parameters ?? {};
  const params = fillDefaults(schema, call.arguments);
  const misfits = misfitsOf(schema, params);
  if (misfits.length > 0 || !isObject(params)) {
    const all = misfits.slice(0, 10).map(({ pointer, message }) => `${pointer || 'they'} ${message}`);
    return errorResult(`The arguments do not fit the schema of ${workflow.name}: ${all.join('; ')}`);
  }
  const observer = observeRun(parts.runObserver, workflow, call.cause());
  const progress = countProgress(workflow, call);
  const ports = runPorts(parts, call, observer, progress);
  return toolResultOf(await runWorkflow(workflow, params, ports, call.signal));
}

function runPorts(
  { calls, clock }: WorkflowParts,
  call: WorkflowCall,
  observer: RunObserver,
  progress: (event: RunEvent) => void,
): RunPorts {
  return {
    clock,
    observe(event) {
      observer.observe(event);
      progress(event);
    },
    callTool(step, tool, given, signal) {
      const cause = call.cause();
      const headers = { ...cause.headers, ...observer.traceOf(step) };
      return calls.call({ cause: { ...cause, headers }, tool, arguments: given, signal });
    },
    askPerson: (message, schema, signal) => call.ask({ message, schema, signal }),
    inputSchema: (tool) => findSchema(calls, call.cause(), tool),
  };
}

async function findSchema(calls: InnerCalls, cause: Exchange, tool: string): Promise<JsonObject | undefined> {
  const definition = (await calls.reachable(cause)).find(tool)?.definition;
  const parsed = definition === undefined ? undefined : parseJson(definition.toString());
  return isObject(parsed) && isObject(parsed.inputSchema) ? parsed.inputSchema : undefined;
}

/**
 * Returns an observer that reports the number of done steps. Done items of a loop count as a fraction of their step.
 */
function countProgress({ steps }: Workflow, call: WorkflowCall): (event: RunEvent) => void {
  const shares = new Map<string, number>();
  return (event) => {
    if (event.kind !== 'step-ended' && event.kind !== 'step-progress') return;
    shares.set(event.step, event.kind === 'step-ended' ? 1 : Math.min(event.share, 0.99));
    const done = [...shares.values()].reduce((sum, share) => sum + share, 0);
    const message = event.kind === 'step-ended' ? `step ${event.step} ${event.end}` : `step ${event.step}`;
    call.progress(Math.round(done * 1000) / 1000, steps.length, message);
  };
}

function toolResultOf(result: RunResult): JsonObject {
  switch (result.kind) {
    case 'completed':
      return success(result.output);
    case 'failed':
      return errorResult(`Workflow execution failed: ${result.message}`);
    case 'timed-out':
      return errorResult(`Workflow execution timed out: ${result.message}`);
    case 'cancelled':
      return errorResult('Workflow execution was cancelled');
  }
}

function success(output: Json): JsonObject {
  const content = [{ type: 'text', text: JSON.stringify(output) }];
  return isObject(output) ? { content, structuredContent: output } : { content };
}

function errorResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }], isError: true };
}
