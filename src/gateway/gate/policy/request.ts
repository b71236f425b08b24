// What policies are asked about a call: who, what, on which tool, prompt or resource, with which arguments.

import type { JsonObject } from '#std/json.ts';
import type { Span } from '../../wire/message.ts';

/** MCP 2025-11-25, ToolAnnotations: hints that a server gives about a tool. */
export interface ToolHints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

export type PolicyAction = 'call_tool' | 'get_prompt' | 'read_resource' | 'extension';

export const POLICY_ACTIONS: readonly PolicyAction[] = ['call_tool', 'get_prompt', 'read_resource', 'extension'];

export interface PolicyRequest {
  readonly action: PolicyAction;
  /** As the client sees it: the tool's or prompt's name, the resource's URI, or the method of an extension. */
  readonly name: string;
  /** Verified claims of the caller. Pass the same object for the same token: what is made of it is remembered by it. */
  readonly claims: JsonObject;
  /** For tools: as clients see them, overrides included. Undefined if the tool is in no list: policies that read hints refuse. */
  readonly hints?: ToolHints;
  /** `params.arguments` within the body; looked into only where a policy reads arguments. */
  readonly arguments?: { readonly body: Buffer; readonly span: Span };
}

/** Who calls where callers are not authenticated. */
export const ANONYMOUS_CLAIMS: JsonObject = { sub: 'anonymous', name: 'Anonymous User' };

interface ActionWords {
  /** Cedar type of what the action is on. */
  readonly type: string;
  readonly operation: string;
  readonly feature: string;
}

export const ACTION_WORDS: Readonly<Record<PolicyAction, ActionWords>> = {
  call_tool: { type: 'Tool', operation: 'call', feature: 'tool' },
  get_prompt: { type: 'Prompt', operation: 'get', feature: 'prompt' },
  read_resource: { type: 'Resource', operation: 'read', feature: 'resource' },
  extension: { type: 'Method', operation: 'call', feature: 'extension' },
};

/** What policies written for ToolHive have in place of these characters of a URI. */
const REPLACED = /[:/\\?&=# .]/g;

/** Id of the Cedar entity that stands for it. Several URIs may have the same: `resource.uri` tells them apart. */
export function resourceId(action: PolicyAction, name: string): string {
  return action === 'read_resource' ? name.replace(REPLACED, '_') : name;
}
