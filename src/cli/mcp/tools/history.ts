// The tool `history` of `skep mcp`: returns the JSON of `skep history`, for all runs or for one run.

import schema from '#reconciler/report/formats/history.json' with { type: 'json' };
import { jsonOfHistory, jsonOfRecord } from '#reconciler/report/history.ts';
import { findRun } from '#reconciler/run/history/find.ts';
import { boundedSchema } from '../bounded.ts';
import { withInstance } from '../opened.ts';
import { data, inputSchema, type McpTool, numberArgument, textArgument } from '../tool.ts';

const RUNS_SHOWN = 20;
const RUNS_MAX = 200;

export const RUN_ID = {
  type: 'string',
  minLength: 4,
  maxLength: 100,
  description: 'Id of a run, or its first characters.',
};

export const HISTORY: McpTool = {
  name: 'history',
  title: 'Runs',
  description:
    'Runs that changed something or found something new, newest first. With `run`: everything that one run did: changes of objects field by field, problems, failures, deletions that waited.',
  inputSchema: inputSchema({
    run: RUN_ID,
    limit: { type: 'integer', minimum: 1, maximum: RUNS_MAX, default: RUNS_SHOWN, description: 'Number of runs.' },
  }),
  outputSchema: boundedSchema(schema),
  call: ({ config, args, signal }) =>
    withInstance(config, signal, async ({ history }) => {
      const runs = await history.latest(config.history.limit);
      const run = textArgument(args, 'run');
      const text =
        run === undefined
          ? jsonOfHistory(runs.slice(0, numberArgument(args, 'limit', RUNS_SHOWN)))
          : jsonOfRecord(findRun(runs, run));
      return data(JSON.parse(text));
    }),
};
