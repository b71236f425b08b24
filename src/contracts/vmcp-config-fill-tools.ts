// Workflows as people write them, with the defaults filled in. Knows nothing about what they do.

import { isObject, type Json, type JsonObject } from '../std/json.ts';

/** What is no object is for the schema to refuse. */
export function fillWorkflows(value: Json | undefined): Json | undefined {
  if (!Array.isArray(value)) return value;
  return value.map((workflow) =>
    isObject(workflow) && Array.isArray(workflow.steps)
      ? { ...workflow, steps: workflow.steps.map((step) => fillStep(step)) }
      : workflow,
  );
}

function fillStep(value: Json): Json {
  if (!isObject(value)) return value;
  const filled: JsonObject = { ...value, type: value.type ?? 'tool' };
  for (const field of ['onError', 'onDecline', 'onCancel']) {
    const handling = filled[field];
    if (isObject(handling)) filled[field] = { ...handling, action: handling.action ?? 'abort' };
  }
  if (filled.step !== undefined) filled.step = fillStep(filled.step);
  return filled;
}
