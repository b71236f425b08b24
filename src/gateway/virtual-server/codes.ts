// Lists the codes for faults of a virtual MCP server itself. Clients of a virtual server get the codes of the proxy.

export const VMCP_CODES = {
  'vmcp-config-invalid':
    'The configuration of a virtual MCP server cannot be used: the message names the file and the key. If skep wrote it, use images of one release.',
  'vmcp-restart-needed':
    'The configuration of a running virtual MCP server has changed in keys that are read at start only: the message names them. All other keys are in force. In a cluster the pods are replaced; elsewhere restart the server.',
  'vmcp-setting-not-supported':
    'A setting of a virtual MCP server has no effect in this release, so the server does not start with it: the message names the key. Remove it.',
  'vmcp-audit-file-unwritable':
    'The file of the audit log (`audit.logFile`) cannot be written: the message names it. Mount a volume there, or leave it out for standard output.',
  'vmcp-status-unwritten':
    'The health of the backends cannot be written into the status of the VirtualMCPServer; the message says why. Its ServiceAccount needs `get` on it and `patch` on its status.',
  'vmcp-tools-clash':
    'Several tools of the backends have the same name. With `manual` clients see none of these tools: give each another name in `aggregation.tools[].overrides`. With `prefix` the first tool keeps the name.',
  'vmcp-item-doubtful':
    'A tool, prompt or resource of a backend has invisible characters, or a text that reads like instructions to a model. Clients get it unchanged: look at it, hide it by `aggregation.tools[].filter`, or give it another description by `overrides`.',
  'vmcp-item-unreadable':
    'A tool, prompt or resource of a backend breaks the rules of the protocol (its `inputSchema` is not the schema of an object, for example), so clients would refuse the lists of all backends: it is left out. If only the `outputSchema` of a tool is wrong, only that is left out. Items beyond 20,000 of a backend are left out too. The author of the server has to correct it.',
  'vmcp-workflow-doubtful':
    'A workflow runs, but one of its settings or templates has no effect or reads nothing: the message names the place and the name to read instead. `skep vmcp validate` reports the same.',
  'vmcp-embeddings-unavailable':
    'The embedding service of the optimizer does not answer, or its answers are invalid; the message names the fault. `find_tool` finds tools only by words, says so, and calls the service again after 5 s.',
} as const;
