// Defines the request to the policies: caller, action, arguments, and the tool, prompt or resource.

import type { JsonObject } from '#std/json.ts';
import type { Span } from '../../wire/message.ts';

/** Hints of a server about a tool (MCP 2025-11-25, ToolAnnotations). */
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
  /** Name that clients use: name of the tool or prompt, URI of the resource, or method of the extension. */
  readonly name: string;
  /**
   * Verified claims of the caller. Requests with the same token must contain the same object, because data that is
   * derived from the claims is cached by this object.
   */
  readonly claims: JsonObject;
  /**
   * Hints of the tool, with the overrides of the configuration. undefined if no list contains the tool: policies that
   * read hints then deny.
   */
  readonly hints?: ToolHints;
  /** Position of `params.arguments`. Parsed only if a policy reads arguments. */
  readonly arguments?: { readonly body: Buffer; readonly span: Span };
}

/** Claims of every caller if callers are not authenticated. */
export const ANONYMOUS_CLAIMS: JsonObject = { sub: 'anonymous', name: 'Anonymous User' };

interface ActionWords {
  /** Cedar type of the target. */
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

/** Characters of a URI that ToolHive replaces in entity ids. Policies for ToolHive rely on the replacement. */
const REPLACED = /[:/\\?&=# .]/g;

/**
 * Returns the id of the Cedar entity. Several URIs may have the same id. Policies can distinguish these URIs by
 * `resource.uri`.
 */
export function resourceId(action: PolicyAction, name: string): string {
  return action === 'read_resource' ? name.replace(REPLACED, '_') : name;
}
