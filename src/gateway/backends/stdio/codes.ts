// Lists the codes of failures of stdio servers.

export const STDIO_CODES = {
  'stdio-busy':
    'Every process of an MCP server with `sharing: perSession` serves a session: try later, or raise their number.',
  'stdio-closed': 'The proxy is shutting down; the client tries again at another replica, or once it runs again.',
  'stdio-ended': 'The MCP server ended before the handshake: its own log (stderr) says why. It is started again.',
  'stdio-era':
    'The MCP server speaks other revisions (with or without sessions) than the client requested: the client chooses another one.',
  'stdio-refused': 'The MCP server answered initialize with an error: the message repeats it. It is started again.',
  'stdio-restarting':
    'The MCP server ended and is started again, with a longer delay after each failure; its log says why.',
  'stdio-silent': 'The MCP server does not answer initialize: look at its log, and check that it speaks MCP on stdio.',
} as const;
