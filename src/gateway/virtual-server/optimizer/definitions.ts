// Defines the two tools that clients see in place of all other tools.

import type { ListedItem } from '../catalogue/pages.ts';

export const FIND_TOOL = 'find_tool';
export const CALL_TOOL = 'call_tool';

const FIND = {
  name: FIND_TOOL,
  description:
    'Finds tools that can do something. Answers with their definitions; call_tool calls them. Look here before you conclude that there is no tool for a task.',
  inputSchema: {
    type: 'object',
    properties: {
      tool_description: { type: 'string', description: 'Purpose of the tool, in a sentence.' },
      tool_keywords: {
        type: 'array',
        items: { type: 'string' },
        description: 'Words that its name or description probably has.',
      },
    },
    required: ['tool_description'],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const CALL = {
  name: CALL_TOOL,
  description: 'Calls a tool that find_tool has found.',
  inputSchema: {
    type: 'object',
    properties: {
      tool_name: { type: 'string', description: 'Name of the tool, as find_tool shows it.' },
      parameters: { type: 'object', description: 'Arguments of the tool, as its inputSchema says.' },
    },
    required: ['tool_name', 'parameters'],
  },
};

export const OPTIMIZER_TOOLS: readonly ListedItem[] = [CALL, FIND].map((tool) => {
  const bytes = Buffer.from(JSON.stringify(tool));
  return { key: tool.name, stateless: bytes, session: bytes };
});
