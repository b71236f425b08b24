// The codes of failures of stdio servers.

export const STDIO_CODES = {
  'stdio-busy':
    'Every process of an MCP server with `sharing: perSession` serves a session: try later, or raise their number.',
  'stdio-closed': 'The proxy is shutting down; the client tries again at another replica, or once it runs again.',
  'stdio-ended': 'The MCP server ended before it was greeted: its own log (stderr) says why. It is started again.',
  'stdio-era':
    'The MCP server speaks revisions of the other kind (with or without sessions) than the client asked for: the client chooses another one.',
  'stdio-refused': 'The MCP server answered initialize with an error: the message repeats it. It is started again.',
  'stdio-restarting': 'The MCP server ended and is started again, each time later while that fails; its log says why.',
  'stdio-silent':
    'The MCP server does not answer initialize: look at its log, and whether it is one that speaks MCP on stdio.',
} as const;
