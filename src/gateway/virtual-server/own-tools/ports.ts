// Defines the virtual server's own tools, and how these tools call tools of members.

import type { JsonObject } from '#std/json.ts';
import type { Backend, Exchange } from '../../backends/backend.ts';

/** The member that has a tool, prompt or resource. */
export interface MemberRoute {
  readonly member: string;
  /** The member's own name or URI. */
  readonly own: string;
}

export interface ToolRoute extends MemberRoute {
  /** Unique name among the tools of all members, or `workload.tool` if another tool has the name. */
  readonly name: string;
  /** True if clients see the tool. Workflows can also call hidden tools. */
  readonly advertised: boolean;
  /** True if a client with a session may request a task (MCP 2025-11-25, Tasks). */
  readonly makesTasks: boolean;
  /** Definition of the tool as clients get it. A hidden tool also has a definition. */
  readonly definition: Buffer;
}

/** The tools that a caller or a workflow can call, including hidden tools. */
export interface ReachableTools {
  /** Tools by the unique names that clients use. */
  readonly tools: ReadonlyMap<string, ToolRoute>;
  /**
   * Finds a tool by its unique name or by `workload.tool`. In the second form, `tool` is the member's own name of the
   * tool, or the name in an override.
   */
  find(name: string): ToolRoute | undefined;
}

export interface OwnTool {
  readonly name: string;
  /** JSON of the tool as in `tools/list`: name, description, inputSchema and so on. */
  readonly definition: Buffer;
}

export interface OwnTools {
  /**
   * Answers `tools/call` of these tools as a server with sessions, which may send requests to the client (elicitation).
   * A bridge serves clients of MCP 2026-07-28. If the client has a session, the header CLIENT_SESSION contains its id.
   */
  readonly backend: Backend;
  /** Returns the own tools for a caller. Called again whenever the members' tools for the caller have changed. */
  offer(reachable: ReachableTools): readonly OwnTool[];
}

/** Header with the id of the client's session. Never leaves the process. */
export const CLIENT_SESSION = 'skep-client-session';

export interface InnerCall {
  /** Exchange that causes the call. The call has the caller and the session of this exchange. */
  readonly cause: Exchange;
  /** Name of the tool for ReachableTools.find. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Receives the params of `notifications/progress` from the tool. */
  readonly progress?: (params: JsonObject) => void;
  /** Aborted when the result is no longer needed. */
  readonly signal?: AbortSignal;
}

export type InnerResult =
  /** `result` of `tools/call` as the member sent it. `isError` may be true. */
  | { readonly kind: 'result'; readonly result: JsonObject }
  /** JSON-RPC error of the member. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** No member has the tool. */
  | { readonly kind: 'unknown' }
  /** Policies refuse the call. */
  | { readonly kind: 'denied'; readonly message: string }
  /** A limit that all replicas share refuses the call. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** The call failed. `retryable` is true if another try may succeed. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean }
  | { readonly kind: 'aborted' };

export interface InnerCalls {
  reachable(cause: Exchange): ReachableTools | Promise<ReachableTools>;
  /**
   * Calls the tool. Never rejects. Policies decide on the tool's unique name, or on `workload.tool` if another tool has
   * the name.
   */
  call(call: InnerCall): Promise<InnerResult>;
}
