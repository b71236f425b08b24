// Defines tools that a virtual server has itself, in addition to those of its members: their definitions, their
// backend, and their calls of members' tools.

import type { JsonObject } from '#std/json.ts';
import type { Backend, Exchange } from '../../backends/backend.ts';

/** Target of a name or URI of the virtual server. */
export interface Route {
  readonly member: string;
  /** Name or URI at the member. */
  readonly own: string;
}

export interface ToolRoute extends Route {
  /** Unique name among the tools of all members; `workload.tool` if another tool has it. */
  readonly name: string;
  /** Whether clients see it. Workflows can call hidden tools too. */
  readonly advertised: boolean;
  /** Whether a client with a session may request a task (2025-11-25, Tasks). */
  readonly makesTasks: boolean;
  /** Definition as clients see it, or would see it. */
  readonly definition: Buffer;
}

/** Tools that a caller can reach through the virtual server, hidden ones included. */
export interface ReachableTools {
  /** Tools by their unique name among all members, which clients use or would use. */
  readonly tools: ReadonlyMap<string, ToolRoute>;
  /**
   * Finds a tool by such a name, or as `workload.tool`, in which `tool` is the member's own name or the one of an
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
   * Answers `tools/call` of these tools. It may question the client (elicitation) like any server with sessions; a
   * bridge serves the other era. Every exchange of a client with a session has the session id in the header
   * CLIENT_SESSION.
   */
  readonly backend: Backend;
  /** Called again whenever the members' offer has changed, for each caller whose tools differ. */
  offer(reachable: ReachableTools): readonly OwnTool[];
}

/** Never leaves the process. */
export const CLIENT_SESSION = 'skep-client-session';

export interface InnerCall {
  /** Exchange during which the tool is called: its caller and its session are those of the call. */
  readonly cause: Exchange;
  /** Name for ReachableTools.find. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Receives params of `notifications/progress` that the tool sends. */
  readonly progress?: (params: JsonObject) => void;
  /** Aborted when nothing waits for the call any more. */
  readonly signal?: AbortSignal;
}

export type InnerResult =
  /** `result` of `tools/call` as the member sent it; `isError` may be true. */
  | { readonly kind: 'result'; readonly result: JsonObject }
  /** JSON-RPC error of the member. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** No member has the tool. */
  | { readonly kind: 'unknown' }
  /** Policies do not permit it to the caller. */
  | { readonly kind: 'denied'; readonly message: string }
  /** A limit of all replicas refuses the call. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** The member did not answer. `retryable`: it may answer later. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean }
  | { readonly kind: 'aborted' };

export interface InnerCalls {
  reachable(cause: Exchange): ReachableTools | Promise<ReachableTools>;
  /** Never rejects. Policies decide on the tool's unique name, or on `workload.tool` if another tool has that name. */
  call(call: InnerCall): Promise<InnerResult>;
}
