// The codes of all Failures that `skep call` raises, with their meanings.

export const CALL_CODES = {
  'call-failed':
    'The server could not be reached, is no MCP server, or refused: the message says which. Check the URL; a proxy says in its log why it refused.',
  'call-arguments':
    'The arguments do not fit the tool; exit code 64. `skep call URL` lists tools with their arguments.',
  'call-tool-failed': 'The tool itself says that it failed. Its answer was printed; the exit code is 1.',
  'call-login':
    'The server wants a token, and there is none that it takes: no terminal to log in at, the login was refused or given up, or a token file that is no good. Log in at a terminal, or give `--token-file`.',
} as const;
