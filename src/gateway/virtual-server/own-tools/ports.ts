// Tools that a virtual server has itself, beside those of its members: what they join the list with, who answers them, and
// how they call tools of members.

import type { JsonObject } from '#std/json.ts';
import type { Backend, Exchange } from '../../backends/backend.ts';

/** Where a name or URI of the virtual server leads. */
export interface Route {
  readonly member: string;
  /** What the member calls it. */
  readonly own: string;
}

export interface ToolRoute extends Route {
  /** Its own among those of all members; `workload.tool` where another tool has that. */
  readonly name: string;
  /** Clients see it. Workflows can call the others too. */
  readonly advertised: boolean;
  /** A client with a session may ask for a task (2025-11-25, Tasks). */
  readonly makesTasks: boolean;
  /** As clients see it, or would. */
  readonly definition: Buffer;
}

/** What a caller can reach through the virtual server, hidden tools included. */
export interface ReachableTools {
  /** By the name that is its own among those of all members: what clients call it, or would. */
  readonly tools: ReadonlyMap<string, ToolRoute>;
  /** By such a name, or as `workload.tool`, where `tool` is the member's own name or the one that an override gives. */
  find(name: string): ToolRoute | undefined;
}

export interface OwnTool {
  readonly name: string;
  /** The tool as `tools/list` shows it, as JSON: name, description, inputSchema, ... */
  readonly definition: Buffer;
}

export interface OwnTools {
  /**
   * Answers `tools/call` of these tools. It may ask the client (elicitation) like any server with sessions: a bridge stands
   * before it for the other era. Of a client with a session every exchange carries its id in the header CLIENT_SESSION.
   */
  readonly backend: Backend;
  /** Asked again whenever what members offer has changed, for each caller whose tools differ. */
  offer(reachable: ReachableTools): readonly OwnTool[];
}

/** Never leaves the process. */
export const CLIENT_SESSION = 'skep-client-session';

export interface InnerCall {
  /** The exchange in whose course the tool is called: its caller and its session are those of the call. */
  readonly cause: Exchange;
  /** As ReachableTools.find takes it. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Params of `notifications/progress` that the tool sends. */
  readonly progress?: (params: JsonObject) => void;
  /** Lets the tool know that no one waits any more. */
  readonly signal?: AbortSignal;
}

export type InnerResult =
  /** `result` of `tools/call` as the member sent it; `isError` may be true. */
  | { readonly kind: 'result'; readonly result: JsonObject }
  /** A JSON-RPC error of the member. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** No member has it. */
  | { readonly kind: 'unknown' }
  /** Policies do not permit it to the caller. */
  | { readonly kind: 'denied'; readonly message: string }
  /** A limit of all replicas refuses it. */
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  /** The member gave no answer. `retryable`: it may give one later. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean }
  | { readonly kind: 'aborted' };

export interface InnerCalls {
  reachable(cause: Exchange): ReachableTools | Promise<ReachableTools>;
  /** Never rejects. Policies decide on the tool's name among those of all members, or on `workload.tool` where it has none. */
  call(call: InnerCall): Promise<InnerResult>;
}
