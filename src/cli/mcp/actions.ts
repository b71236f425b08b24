// Names the actions of `skep mcp`, which are off unless `--allow` names them. It loads no tool: every start of skep reads it.

export const ACTIONS = ['approve', 'rollback'] as const;

export type Action = (typeof ACTIONS)[number];
