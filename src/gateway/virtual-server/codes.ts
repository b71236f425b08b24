// Lists the codes for faults of a virtual MCP server itself. Its clients get the codes of the proxy.

export const VMCP_CODES = {
  'vmcp-config-invalid':
    'The configuration of a virtual MCP server cannot be used: the message names the file and the key. Where skep wrote it, use images of one release.',
  'vmcp-restart-needed':
    'The configuration of a running virtual MCP server has changed in keys that are read at start only: the message names them. All others are in force. In a cluster the pods are replaced; elsewhere restart the server.',
  'vmcp-setting-not-supported':
    'A setting of a virtual MCP server has no effect in this release, so that the server does not start with it: the message names the key. Remove it.',
  'vmcp-audit-file-unwritable':
    'The file of the audit log (`audit.logFile`) cannot be written: the message names it. Mount a volume there, or leave it out for standard output.',
  'vmcp-status-unwritten':
    'The health of the backends cannot be written into the status of the VirtualMCPServer; the message says why. Its ServiceAccount needs `get` on it and `patch` on its status.',
  'vmcp-tools-clash':
    'Several tools of the backends want the same name. With `manual` clients see none of them: give one of them another name in `aggregation.tools[].overrides`. With `prefix` the first has it.',
  'vmcp-item-doubtful':
    'A tool, prompt or resource of a backend has characters that are not seen, or a text that reads like instructions to a model. Clients get it as it is: look at it, hide it by `aggregation.tools[].filter`, or give it another description by `overrides`.',
  'vmcp-item-unreadable':
    'A tool, prompt or resource of a backend is not as the protocol has it (its `inputSchema` is not the schema of an object, for example), so that clients would refuse the lists of all backends: it is left out. Of a tool whose `outputSchema` alone is wrong, only that is left out. The same where a backend has more than 20,000. The author of the server has to correct it.',
  'vmcp-workflow-doubtful':
    'A workflow runs, and a setting or a template of it has no effect or reads nothing: the message names the place and what to read instead. `skep vmcp validate` says the same.',
  'vmcp-embeddings-unavailable':
    'The embedding service of the optimizer does not answer, or not as it should; the message says how. `find_tool` finds tools by words alone, says so, and asks the service again after 5 s.',
} as const;
