// The tool `status` of `skep mcp`: returns the JSON of `skep status`.

import { readOperatorStatus } from '#hosts/reconciler/operator/status.ts';
import schema from '#reconciler/report/formats/status.json' with { type: 'json' };
import { jsonOfStatus } from '#reconciler/report/status.ts';
import { boundedSchema } from '../bounded.ts';
import { withInstance } from '../opened.ts';
import { data, inputSchema, type McpTool } from '../tool.ts';

export const STATUS: McpTool = {
  name: 'status',
  title: 'Status of the fleet',
  description:
    'State of the fleet now: what differs from Git, what is kept unchanged, suspended, waiting for approval or in trouble, since when and why. Begin here.',
  inputSchema: inputSchema({}),
  outputSchema: boundedSchema(schema),
  call: ({ config, signal }) =>
    withInstance(config, signal, async (instance) => {
      const { status, lastLook } = await readOperatorStatus(instance, config);
      return data(JSON.parse(jsonOfStatus(status, lastLook)));
    }),
};
