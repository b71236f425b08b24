// Names the actions of `skep mcp`. An action is available only if `--allow` names it. This file imports no tool,
// because every start of skep loads it.

export const ACTIONS = ['approve', 'rollback'] as const;

export type OperatorAction = (typeof ACTIONS)[number];
