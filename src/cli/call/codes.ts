// Lists the codes of the Failures of `skep call`, with their meanings.

export const CALL_CODES = {
  'call-failed':
    'The server could not be reached, is not an MCP server, or refused the request: the message says which. Check the URL; the log of a proxy has the reason of a refusal.',
  'call-arguments':
    'The arguments do not fit the tool; exit code 64. `skep call URL` lists tools with their arguments.',
  'call-tool-failed': 'The tool itself reports that it failed. Its result was printed; the exit code is 1.',
  'call-login':
    'The server requires a token, and no valid token exists: there is no terminal for a login, the login was refused or given up, or the token file is invalid. Log in at a terminal, or use `--token-file`.',
} as const;
