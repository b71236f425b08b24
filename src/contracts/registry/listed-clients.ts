// Defines the MCP clients for whose administrators the registry service creates lists of servers.

export const LISTED_CLIENTS = ['vscode', 'copilot', 'claude-code', 'cursor'] as const;

export type ListedClient = (typeof LISTED_CLIENTS)[number];
