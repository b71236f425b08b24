// Lists the codes of refusals and faults of a proxy, for audit events, logs and metrics.

export const PROXY_CODES = {
  'proxy-restart-needed':
    'The configuration of a running proxy has changed in keys that are read at start only: the message names them. All other keys are in force. In a cluster the pods are replaced; elsewhere restart the proxy.',
  'proxy-config-invalid':
    'The run configuration cannot be used: the message names the file and the key. If skep wrote it, use images of one release.',
  'message-invalid':
    'The body is not a JSON-RPC message that all readers read in the same way: it is not JSON, is a batch, or has a key twice or in another case. The answer names the fault.',
  'protocol-violated':
    'Headers and body of the request disagree, or name an unknown revision of MCP. The answer says which.',
  'session-unknown':
    'The session does not belong to this caller, or has ended: the client begins a new one with initialize.',
  'session-required':
    'A DELETE names no session in Mcp-Session-Id, so there is nothing to end. The client has to name the session that it got from initialize.',
  'request-too-large': 'The body is larger than limits.request_bytes: send less, or raise it (skep.dev/max-body).',
  'tool-hints-unreadable':
    "A policy reads hints of tools (readOnlyHint and others), and the list of tools of the MCP server could not be read completely within 30 s, so the call is refused. The log says why. Look at the server's answers to tools/list.",
  'definitions-unreadable':
    "The server is held to its ToolLock (skep.dev/tools-lock: enforce), and its list of tools, prompts or resource templates could not be read completely within 30 s, so the call is refused. The log says why. Look at the server's answers to list requests.",
  'audit-unwritable':
    'Audit events cannot be written, and skep.dev/audit-failure is refuse (audit_config.on_failure, in the file of a virtual server auditFailure): the log says why. Make room on the disk, or let the log collection read again.',
  'subscription-too-large':
    'A subscriptions/listen names more than 100 resources. The client opens several subscriptions, each for at most 100.',
  'webhook-denied':
    'A webhook of the MCPWebhookConfig denies the request: the audit event names the webhook and its reason (`refusal_detail`). Ask the owner of the webhook.',
  'webhook-failed':
    'A webhook sent no usable answer, and its failurePolicy is fail: it was not reached in time, sent another status than 200 and 422, an invalid document, the uid of another request, or a patch that cannot be applied. The log and `refusal_detail` of the audit event name the webhook and the cause. Repair the webhook; failurePolicy ignore lets requests pass without it.',
  'webhook-ignored':
    'A webhook sent no usable answer, and its failurePolicy is ignore: the request passed without it. The log names the webhook and the cause, the audit event says `ignored`, and skep_proxy_webhook_answers_total counts it.',
  'webhook-request-too-large':
    'Webhooks get messages of at most 1 MiB. A larger message is refused, because no webhook could check it. Send less.',
  'request-cut-off':
    'The client closed the connection before its request had arrived: look at the client and at timeouts between it and the proxy.',
  'path-unknown':
    'There is nothing at the path, or the target of the request is not a path: the answer contains the URL path of the server.',
  'method-refused': 'MCP does not use this HTTP method at this path. Its methods are POST, GET and DELETE.',
  'accept-refused': 'A GET must accept text/event-stream: the proxy does not serve other pages of the server.',
  'content-type-refused':
    'A POST has another type than MCP requires: send application/json in UTF-8 without a content coding.',
  'proxy-internal': 'The proxy has a bug: its log has the reason; please report it.',
  'server-unreachable':
    'The proxy cannot connect to the MCP server: check that it runs, that its port is the configured one, and that network policies let the proxy through. The log names the cause.',
  'server-timeout': 'The MCP server did not answer in time: look at its load, or raise timeouts.first_byte_seconds.',
  'server-closed':
    'The MCP server closed the connection before its answer ended: its own log says why. The request may have been carried out, so a client does not repeat it by itself.',
  'server-busy': 'All processes of the MCP server are taken: try again later, or raise their number (backendReplicas).',
  'server-not-started':
    'The MCP server was asleep (skep.dev/sleep-after), and did not start within skep.dev/wake-limit. The log has the reason; the events of its pod say more. 403 of the API server: the Role of the proxy needs get and patch on the scale of the StatefulSet.',
  'server-answer-invalid':
    'The MCP server sent an answer that does not follow MCP: the log names the fault. Check the URL of the server.',
  'server-answer-too-large':
    'The MCP server sent a message that has to be read and is larger than limits.message_bytes: raise it, or let the server page its lists.',
  'server-not-supported': 'The MCP server cannot handle this request in this mode; the answer names the reason.',
  'server-unauthorized':
    'The caller gets no credentials at the MCP server: there is no token to exchange, or the server refuses it. The log has the reason.',
  'server-forbidden': 'The caller is not allowed to use the MCP server: no role fits its token.',
  'server-error': 'The MCP server itself sent an HTTP error: its own log says why.',
} as const;

export type ProxyCode = keyof typeof PROXY_CODES;
