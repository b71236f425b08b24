// Lists the codes with which a proxy refuses requests or reports faults, in its audit events, its log and its metrics.

export const PROXY_CODES = {
  'proxy-restart-needed':
    'The configuration of a running proxy has changed in keys that are read at start only: the message names them. All others are in force. In a cluster the pods are replaced; elsewhere restart the proxy.',
  'proxy-config-invalid':
    'The run configuration cannot be used: the message names the file and the key. Where skep wrote it, use images of one release.',
  'message-invalid':
    'The body is no JSON-RPC message that everybody reads alike: no JSON, a batch, a key that is there twice or in another case. The answer says what is wrong with it.',
  'protocol-violated':
    'Headers and body of the request disagree, or name a revision of MCP that is not known. The answer says which.',
  'session-unknown':
    'The session was never given to this caller, or has ended: the client begins a new one with initialize.',
  'session-required':
    'A DELETE names no session in Mcp-Session-Id: there is nothing to end. The client names the session that initialize gave it.',
  'request-too-large': 'The body is larger than limits.request_bytes: send less, or raise it (skep.dev/max-body).',
  'tool-hints-unreadable':
    'A policy reads hints of tools (readOnlyHint and others), and the list of tools of the MCP server could not be read to its end within 30 s, so the call is refused. The log says why. Look at what the server answers to tools/list.',
  'definitions-unreadable':
    'The server is held to its ToolLock (skep.dev/tools-lock: enforce), and its list of tools, prompts or resource templates could not be read to its end within 30 s, so the call is refused. The log says why. Look at what the server answers.',
  'audit-unwritable':
    'Audit events cannot be written, and skep.dev/audit-failure is refuse (audit_config.on_failure, in the file of a virtual server auditFailure): the log says why. Make room on the disk, or let the log collection read again.',
  'subscription-too-large':
    'A subscriptions/listen names more than 100 resources. The client opens several subscriptions, each for at most 100.',
  'webhook-denied':
    'A webhook of the MCPWebhookConfig denies the request: the audit event names the webhook and its reason (`refusal_detail`). Ask whoever looks after the webhook.',
  'webhook-failed':
    'A webhook gave no usable answer, and its failurePolicy is fail: it was not reached in time, answered with another status than 200 and 422, with something that is not the document, with the uid of another request, or with a patch that cannot be applied. The log and `refusal_detail` of the audit event name the webhook and the cause. Repair the webhook; failurePolicy ignore lets requests pass without it.',
  'webhook-ignored':
    'A webhook gave no usable answer, and its failurePolicy is ignore: the request went on without it. The log names the webhook and the cause, the audit event says `ignored`, and skep_proxy_webhook_answers_total counts it.',
  'webhook-request-too-large':
    'Webhooks are sent messages of at most 1 MiB, and a larger one is refused, because no webhook could look at it. Send less.',
  'request-cut-off':
    'The client closed the connection before its request had arrived: look at the client and at timeouts between it and the proxy.',
  'path-unknown':
    'There is nothing at the path, or the target of the request is no path: the answer says where the server is.',
  'method-refused': 'MCP has no such HTTP method there: POST, GET and DELETE are its own.',
  'accept-refused': 'A GET must accept text/event-stream: other pages of the server are not served by the proxy.',
  'content-type-refused':
    'A POST is something else than application/json in UTF-8 without a content coding: MCP sends nothing else.',
  'proxy-internal': 'A mistake of the proxy itself: its log has the reason; please report it.',
  'server-unreachable':
    'The MCP server cannot be connected to: does it run, is its port the one of the configuration, do network policies let the proxy through? The log names the cause.',
  'server-timeout': 'The MCP server did not answer in time: look at its load, or raise timeouts.first_byte_seconds.',
  'server-closed':
    'The MCP server closed the connection before its answer ended: its own log says why. The request may have been carried out, so a client does not repeat it by itself.',
  'server-busy': 'All processes of the MCP server are taken: try again later, or raise their number (backendReplicas).',
  'server-answer-invalid':
    'The MCP server answered with something that is no MCP: the log says what. Is its URL the right one?',
  'server-answer-too-large':
    'The MCP server sent a message that has to be read and is larger than limits.message_bytes: raise it, or let the server page its lists.',
  'server-not-supported': 'The MCP server cannot do what the request asks for in this mode; the answer says what.',
  'server-unauthorized':
    'The caller cannot be given rights at the MCP server: there is no token to exchange, or it is refused there. The log says which.',
  'server-forbidden': 'The caller may not act at the MCP server: no role fits its token.',
  'server-error': 'The MCP server itself answered with an HTTP error: its own log says why.',
} as const;

export type ProxyCode = keyof typeof PROXY_CODES;
