// The tool `plan` of `skep mcp`: returns the JSON of `skep plan` in pages.

import { addImpact, planNow } from '#hosts/reconciler/operator/plan.ts';
import { countsOf } from '#reconciler/report/change-text.ts';
import { jsonOfPlan } from '#reconciler/report/formats/json.ts';
import { COUNT, record } from '#reconciler/report/formats/json-schema-parts.ts';
import { OUTPUT_SCHEMAS } from '#reconciler/report/formats/json-schemas.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { boundedSchema } from '../bounded.ts';
import { withPlanner } from '../opened.ts';
import { withChanges } from '../some-changes.ts';
import { inputSchema, type McpTool, numberArgument } from '../tool.ts';

const CHANGES_SHOWN = 50;
const CHANGES_MAX = 200;
const OFFSET_MAX = 1_000_000;

export const PLAN: McpTool = {
  name: 'plan',
  title: 'Plan of the next run',
  description:
    'Changes that the next run would make, with their fields (values of Secrets are masked), objects that are kept unchanged and why, deletions that wait for approval with their hash, and effects on clients. A long plan comes in pages: `page` says how many changes there are; call again with `offset`.',
  inputSchema: inputSchema({
    offset: { type: 'integer', minimum: 0, maximum: OFFSET_MAX, default: 0, description: 'Changes to leave out.' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: CHANGES_MAX,
      default: CHANGES_SHOWN,
      description: 'Number of changes.',
    },
  }),
  outputSchema: boundedSchema(OUTPUT_SCHEMAS.plan, {
    page: {
      ...record({ offset: COUNT, shown: COUNT, total: COUNT, next: COUNT }, ['next']),
      description: 'The changes in `batches`. `next`: offset of the next page; absent on the last.',
    },
  }),
  call: ({ config, args, signal }) =>
    withPlanner(config, signal, async (instance) => {
      const result = await addImpact(config, await planNow(instance, config));
      const offset = numberArgument(args, 'offset', 0);
      const limit = numberArgument(args, 'limit', CHANGES_SHOWN);
      return { type: 'data', shown: (items) => planPage(result, offset, Math.min(limit, items)) };
    }),
};

/** Returns the JSON of the plan with one page of its changes. The summary counts all changes. */
export function planPage(result: RunResult, offset: number, limit: number): object {
  const all = result.plan.batches.flatMap(({ changes }) => changes);
  const chosen = new Set(all.slice(offset, offset + limit));
  const plan = withChanges(result.plan, (change) => chosen.has(change));
  const shown = JSON.parse(jsonOfPlan({ ...result, plan }));
  const end = offset + chosen.size;
  const next = end < all.length ? { next: end } : {};
  const page = { offset, shown: chosen.size, total: all.length, ...next };
  const summary = { ...shown.summary, ...countsOf(result.plan) };
  return { ...shown, summary, page };
}
