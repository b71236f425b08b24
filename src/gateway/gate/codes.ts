// Lists the codes of refused calls and of faults in the gate's configuration.

import type { Json } from '#std/json.ts';

export const GATE_CODES = {
  'policy-denied':
    'No policy permits the call, or one forbids it. Ask the author of the policies, or look at the audit log for the tool, prompt or resource, the caller, and the policies that forbid it (`refusal_detail`, counted from `policy0`).',
  'policy-scope-missing':
    'The policies would permit the call to a token with more scopes. The client gets 403 with `insufficient_scope` and the scopes to request (MCP, Authorization, Step-Up Authorization Flow); a client that supports this logs in again by itself.',
  'policy-error':
    'A policy could not be evaluated for the call, so the call is refused. The log names the policy: usually it reads an argument or a claim that is absent (guard it with `has`), has another type than the policy expects, or is a number that Cedar cannot express.',
  'policy-arguments-ambiguous':
    'The arguments contain a key twice, in another case than a policy reads it, or together with another key that policies read as the same: servers might read another value than the policies. Or an argument that a policy reads has more than 1,000 values or 64 KiB: the answer says which of the two. Send each argument once, with the name that the tool declares, and let policies read small arguments.',
  'policy-hints-unknown':
    'A policy reads hints of tools (readOnlyHint and others), and the list of the MCP server does not contain the called tool, so its hints are unknown. Let the server list the tool.',
  'policy-method-unknown':
    'No policy permits the method. Methods of extensions are refused unless a policy that names Action::"extension" permits them, as in `permit(principal, action == Action::"extension", resource == Method::"com.example/run")`; methods in a namespace of the protocol that it does not have are always refused.',
  'policy-caller-unknown':
    'Policies cannot decide on the caller of the request, because its token has no `sub`. Send a token with a `sub`.',
  'policy-engine-failed':
    'The policy engine failed while it decided. The call is refused; the engine is started again. If this happens again, simplify the deeply nested policy.',
  'policy-file-invalid':
    'The file with the policies cannot be used: the message names the policy, line and column. The last good policies stay in use.',
  'policy-entities-invalid': 'entities_json is not a JSON list of Cedar entities. The last good file stays in use.',
  'tool-unknown':
    'There is no tool of that name for clients: tools_filter leaves it out, or it was renamed and is callable by its new name only.',
  'definition-held-back':
    'The server is held to its ToolLock (annotation skep.dev/tools-lock: enforce), and the tool, prompt or resource template is new or differs from the reviewed one. See `skep lock --diff`; the author of the lock accepts the definition with `skep lock --update` and a commit.',
  'definition-drifted':
    'A definition of the server differs from the one in its ToolLock. With enforce, clients do not get it; with report, it passes. See `skep lock --diff`.',
  'task-unknown':
    'The caller has no task of that id: another caller created it, its tool is hidden or has another name now, or the key that sealed the id was removed. The same code refuses a subscription whose taskIds are not a list of texts.',
  'task-list-refused':
    'tasks/list is not offered by a proxy with policies or tool filters: the list of the MCP server does not say which caller created a task. The client requests each of its tasks by tasks/get.',
  'tool-override-clash':
    'Two tools have the same name after renaming. The first, by their own names, gets the calls; the other is not shown.',
  'list-unreadable':
    'The server sent a list that cannot be read, so it cannot be filtered. It is refused, not passed on. Look at the list that the server sends.',
  'rate-exceeded':
    'The replica got more requests in a second than limits.requests_per_second allows. Clients get 503 with Retry-After; add replicas or raise the limit.',
  'rate-exceeded-caller':
    'The caller sent more requests in a second than limits.per_caller.requests_per_second allows. It gets 429 with Retry-After.',
  'calls-exceeded':
    'The number of calls in flight on the replica has reached limits.concurrent_calls. Look for a server that hangs, add replicas or raise the limit.',
  'calls-exceeded-caller':
    "The number of the caller's calls in flight on the replica has reached limits.per_caller.concurrent_calls. The caller has to wait for one of them.",
  'streams-exceeded':
    'The number of open streams on the replica has reached limits.streams. Add replicas or raise the limit.',
  'streams-exceeded-caller':
    "The number of the caller's open streams on the replica has reached limits.per_caller.streams. The caller has to close one of them.",
  'rate-limit-shared':
    'Together the callers of the server called tools more often than rateLimiting.shared allows. Clients get 429 with Retry-After and JSON-RPC error -32029. Let them wait, or raise the limit.',
  'rate-limit-user':
    'The user called tools of the server more often than rateLimiting.perUser allows. The client gets 429 with Retry-After and JSON-RPC error -32029.',
  'rate-limit-tool':
    'Together the callers called one tool more often than rateLimiting.tools allows: the audit event names the tool and the limit (`refusal_detail`). Clients get 429 with Retry-After and JSON-RPC error -32029.',
  'rate-limit-tool-user':
    'The user called one tool more often than rateLimiting.tools allows each user: the audit event names the tool and the limit (`refusal_detail`). The client gets 429 with Retry-After and JSON-RPC error -32029.',
  'rate-limits-counted-alone':
    'Redis, which counts the calls of tools, is unavailable, so each replica counts by itself with the same limits: together the replicas let through at most as many times the limit as there are replicas. Look at the Redis of sessionStorage. skep_proxy_rate_limits_alone_total counts such calls, and their audit events say `rate_limits: replica`.',
  'origin-refused':
    'The Origin header names a page that may not call: neither the own host, nor the host of resource_url, nor one of allowed_origins.',
  'host-refused':
    'The Host header names a host that the listener does not serve. On a loopback listener only names of this machine are served; elsewhere the names of allowed_hosts, if set.',
} as const;

export type GateCode = keyof typeof GATE_CODES;

/** Refusal of a call. The message is for the client. It names no single policy, no other caller and no internals. */
export interface Denial {
  readonly httpStatus: 200 | 400 | 403 | 429 | 503;
  /** Code of the JSON-RPC error. Often equal to the HTTP status. */
  readonly rpcCode: number;
  readonly code: GateCode;
  readonly message: string;
  /** Seconds after which a retry is useful. Set for HTTP 429 and 503. */
  readonly retryAfterSeconds?: number;
  readonly data?: Json;
}
