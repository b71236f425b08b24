// Defines tools that a virtual server has itself, in addition to tools of its members: definitions, backend, and calls
// of members' tools.

import type { JsonObject } from '#std/json.ts';
import type { Backend, Exchange } from '../../backends/backend.ts';

/** Target of a name or URI of the virtual server. */
export interface Route {
  readonly member: string;
  /** Name or URI at the member. */
  readonly own: string;
}

export interface ToolRoute extends Route {
  /** Unique name among the tools of all members; or `workload.tool` if another tool has that name. */
  readonly name: string;
  /** Whether clients see the tool. Workflows can call hidden tools too. */
  readonly advertised: boolean;
  /** Whether a client with a session may request a task (MCP 2025-11-25, Tasks). */
  readonly makesTasks: boolean;
  /** Definition as clients see it, or would see it. */
  readonly definition: Buffer;
}

/** The tools that a caller can reach through the virtual server, including hidden tools. */
export interface ReachableTools {
  /** Tools by their unique name among all members, which are the names for clients. */
  readonly tools: ReadonlyMap<string, ToolRoute>;
  /**
   * Finds a tool by its unique name, or as `workload.tool`, in which `tool` is the member's own name or the name in an
   * override.
   */
  find(name: string): ToolRoute | undefined;
}

export interface OwnTool {
  readonly name: string;
  /** Tool as in `tools/list`, as JSON: name, description, inputSchema, ... */
  readonly definition: Buffer;
}

export interface OwnTools {
  /**
   * Answers `tools/call` of these tools. The backend may question the client (elicitation), as a server with sessions.
   * A bridge serves the stateless era. Every exchange of a client with a session has the session id in the header
   * CLIENT_SESSION.
   */
  readonly backend: Backend;
  /**
   * Returns the own tools for a caller. Called again when the members' offer changes, for each caller whose tools
   * differ.
   */
  offer(reachable: ReachableTools): readonly OwnTool[];
}

/** Header with the id of the client's session. It never leaves the process. */
export const CLIENT_SESSION = 'skep-client-session';

export interface InnerCall {
  /** Exchange during which the tool is called. The call has the exchange's caller and session. */
  readonly cause: Exchange;
  /** Name of the tool, for ReachableTools.find. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Receives params of `notifications/progress` that the tool sends. */
  readonly progress?: (params: JsonObject) => void;
  /** Aborted when the call is no longer needed. */
  readonly signal?: AbortSignal;
}

export type InnerResult =
  /** `result` of `tools/call` as the member sent it; `isError` may be true. */
  | { readonly kind: 'result'; readonly result: JsonObject }
  /** JSON-RPC error of the member. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** No member has the tool. */
  | { readonly kind: 'unknown' }
  /** Policies do not permit the caller to call the tool. */
  | { readonly kind: 'denied'; readonly message: string }
  /** A limit of all replicas refuses the call. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** The member did not answer. `retryable` is true if the member may answer later. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean }
  | { readonly kind: 'aborted' };

export interface InnerCalls {
  reachable(cause: Exchange): ReachableTools | Promise<ReachableTools>;
  /**
   * Calls the tool. Never rejects. Policies decide on the tool's unique name, or on `workload.tool` if another tool has
   * that name.
   */
  call(call: InnerCall): Promise<InnerResult>;
}
