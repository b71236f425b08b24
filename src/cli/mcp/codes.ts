// Lists the codes of the Failures of `skep mcp`, with their meanings.

export const MCP_CODES = {
  'mcp-arguments':
    'The arguments do not fit the input schema of the tool: the message names the argument. `tools/list` has the schema.',
  'mcp-resource-unknown':
    'This instance neither declares nor owns an object of that name, or several objects have it: name it as NAMESPACE/KIND/NAME. `plan` and `status` show such names.',
  'mcp-result-too-large':
    'The result is larger than one answer of `skep mcp` may be, even with its lists cut: ask about one resource or one run, or use the command in a shell. If the message says that an action was done, do not repeat it: `status` and `history` show its effect.',
  'mcp-busy': 'Too many calls are under way. Wait for one of them to end, and call again.',
  'mcp-timeout':
    'The call took longer than its time limit and was given up. Call again; `status` says if the cluster or Git does not respond.',
  'mcp-cancelled': 'The client cancelled the call. If an action had begun, `status` and `history` say how far it came.',
  'mcp-confirmation-unavailable':
    'An action needs the confirmation of a person, and the client cannot ask one: it does not support elicitation with a form. Nothing was done. A person can run the command that the error names.',
  'mcp-confirmation-declined':
    'The person did not confirm the action. Nothing was done; do not ask again unless they want it.',
  'mcp-confirmation-changed':
    'The action is not the one that the person confirmed any more, because the list of deletions or the commits have changed. Nothing was done: call the tool again, and confirm what it shows then.',
  'mcp-confirmation-too-long':
    'The list of deletions is too long to be confirmed in a dialogue, or is not a list of deletions. Nothing was done. A person can run the command that the error names.',
  'mcp-internal': 'A bug of skep: the log of `skep mcp` on its standard error has the stack. Report it.',
  'mcp-address-refused':
    '`skep mcp --listen` listens on addresses of this machine only, because it has the rights of its kubeconfig. Put `skep proxy` in front of it to serve others.',
  'mcp-unauthorized':
    'The request has no token of the file of `--token-file`, or the file cannot be read: let the client send one as `Authorization: Bearer TOKEN`.',
} as const;
