// Defines failure codes of server processes.

export const PROCESS_CODES = {
  'process-start':
    'The program of an MCP server does not start: it does not exist, may not be run, or its directory is missing; the message says which.',
} as const;
