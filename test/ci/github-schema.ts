// What GitHub's own parser says of workflows and actions.

import { registerHooks } from 'node:module';

// It imports JSON without saying so, which Node refuses.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return specifier.endsWith('.json') ? { ...resolved, importAttributes: { type: 'json' } } : resolved;
  },
});

const { NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser');
const { parseAction } = await import('@actions/workflow-parser/actions/action-parser');

/** Messages; none where all is well. `action.yml` is read as an action, everything else as a workflow. */
export function schemaFaults(name: string, content: string): readonly string[] {
  const trace = new NoOperationTraceWriter();
  const file = { name, content };
  const { context } = name.endsWith('action.yml') ? parseAction(file, trace) : parseWorkflow(file, trace);
  return context.errors.getErrors().map(({ message }) => message);
}
