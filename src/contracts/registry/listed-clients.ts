// Names the MCP clients whose administrators get lists of the servers of a registry.

export const LISTED_CLIENTS = ['vscode', 'copilot', 'claude-code', 'cursor'] as const;

export type ListedClient = (typeof LISTED_CLIENTS)[number];
