// Learns the `x-mcp-header` annotations of a server's tools from the lists of tools that pass through. Adapts lists of
// tools for clients with sessions.

import { isObject, type JsonObject } from '#std/json.ts';
import { listElements, objectMembers } from '../../wire/json-walk.ts';
import type { RequestMessage, Span } from '../../wire/message.ts';
import type { Patch } from '../../wire/patch.ts';
import { changeMembers, dropElements } from './edit.ts';
import { objectOf } from './messages.ts';
import { type ParamHeader, paramHeadersMatch, paramHeadersOf, paramHeaderValues } from './param-headers.ts';

export interface ToolSchemas {
  /** Remembers the annotations of the tools in a result. */
  learn(bytes: Buffer, result: Span): void;
  /** Remembers the annotations, like `learn`. Returns patches that make the list valid for clients with sessions. */
  learnForSessions(bytes: Buffer, result: Span): readonly Patch[];
  /** Returns the headers that a server of MCP 2026-07-28 requires for the call. */
  headers(message: RequestMessage, body: Buffer): Record<string, string>;
  /** Returns whether a call has the headers that its tool requires. Returns true for unknown tools. */
  match(message: RequestMessage, body: Buffer, given: Readonly<Record<string, string>>): boolean;
}

/** Maximum number of remembered tools with headers. The oldest tools are forgotten first. */
const MAX_TOOLS = 10_000;

export function createToolSchemas(): ToolSchemas {
  const known = new Map<string, readonly ParamHeader[]>();

  function remember(name: unknown, headers: readonly ParamHeader[]): void {
    if (typeof name !== 'string') return;
    known.delete(name);
    if (headers.length > 0) known.set(name, headers);
    const oldest = known.size > MAX_TOOLS ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
  }

  function headersOf({ method, target }: RequestMessage): readonly ParamHeader[] | undefined {
    return method === 'tools/call' && target !== undefined ? known.get(target.value) : undefined;
  }

  return {
    learn(bytes, result) {
      if (known.size === 0 && !bytes.includes('"x-mcp-header"')) return;
      for (const span of toolSpans(bytes, result)) {
        const { name, inputSchema } = objectOf(bytes, span);
        const read = paramHeadersOf(inputSchema);
        remember(name, read.ok ? read.headers : []);
      }
    },
    learnForSessions(bytes, result) {
      const spans = toolSpans(bytes, result);
      const invalid = new Set<number>();
      const patches: Patch[] = [];
      for (const [index, span] of spans.entries()) {
        const tool = objectOf(bytes, span);
        const read = paramHeadersOf(tool.inputSchema);
        remember(tool.name, read.ok ? read.headers : []);
        // A tool with invalid annotations must not be offered (MCP 2026-07-28, Custom Headers from Tool Parameters).
        if (read.ok) patches.push(...withoutOtherOutput(bytes, span, tool));
        else invalid.add(index);
      }
      return [...patches, ...dropElements(spans, (index) => invalid.has(index))];
    },
    headers(message, body) {
      const headers = headersOf(message);
      return headers === undefined ? {} : paramHeaderValues(headers, objectOf(body, message.arguments));
    },
    match(message, body, given) {
      const headers = headersOf(message);
      return headers === undefined || paramHeadersMatch(headers, objectOf(body, message.arguments), given);
    },
  };
}

function toolSpans(bytes: Buffer, result: Span): readonly Span[] {
  const tools = objectMembers(bytes, result.start)?.find(({ key }) => key === 'tools');
  return (tools === undefined ? undefined : listElements(bytes, tools.value.start)) ?? [];
}

/**
 * Removes an `outputSchema` that does not describe an object. Clients until 2025-11-25 would refuse the whole list
 * because of such a schema.
 */
function withoutOtherOutput(bytes: Buffer, span: Span, { outputSchema }: JsonObject): readonly Patch[] {
  if (outputSchema === undefined || (isObject(outputSchema) && outputSchema.type === 'object')) return [];
  return changeMembers(bytes, span.start, (key) => key === 'outputSchema') ?? [];
}
