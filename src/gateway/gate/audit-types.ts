// Lists the types of audit events, and determines the type of a request.

import type { Message } from '../wire/message.ts';

/** All types, including the types for workflows of virtual servers. Configurations select types from this list. */
export const AUDIT_TYPES = [
  'mcp_initialize',
  'mcp_tool_call',
  'mcp_tools_list',
  'mcp_resource_read',
  'mcp_resources_list',
  'mcp_prompt_get',
  'mcp_prompts_list',
  'mcp_notification',
  'mcp_ping',
  'mcp_logging',
  'mcp_completion',
  'mcp_roots_list_changed',
  'mcp_request',
  'http_request',
  'sse_connection',
  'mcp_definition_drifted',
  'vmcp_workflow_started',
  'vmcp_workflow_completed',
  'vmcp_workflow_failed',
  'vmcp_workflow_timed_out',
  'vmcp_workflow_step_started',
  'vmcp_workflow_step_completed',
  'vmcp_workflow_step_failed',
  'vmcp_workflow_step_skipped',
] as const;

export type AuditType = (typeof AUDIT_TYPES)[number];

const BY_METHOD: ReadonlyMap<string, AuditType> = new Map<string, AuditType>([
  ['initialize', 'mcp_initialize'],
  ['tools/call', 'mcp_tool_call'],
  ['tools/list', 'mcp_tools_list'],
  ['resources/read', 'mcp_resource_read'],
  ['resources/list', 'mcp_resources_list'],
  ['prompts/get', 'mcp_prompt_get'],
  ['prompts/list', 'mcp_prompts_list'],
  ['notifications/roots/list_changed', 'mcp_roots_list_changed'],
  ['ping', 'mcp_ping'],
  ['logging/setLevel', 'mcp_logging'],
  ['completion/complete', 'mcp_completion'],
]);

/** Returns the type of a request. `stream` is true if the request opened a stream for messages of the server. */
export function auditTypeOf(message: Message | undefined, stream: boolean): AuditType {
  if (message === undefined) return stream ? 'sse_connection' : 'http_request';
  if (message.kind === 'response') return 'mcp_request';
  const known = BY_METHOD.get(message.method);
  return known ?? (message.method.startsWith('notifications/') ? 'mcp_notification' : 'mcp_request');
}
