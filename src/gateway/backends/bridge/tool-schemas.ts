// What the tools of a server ask for by `x-mcp-header`, learned from the lists that pass, and lists of tools as clients with
// sessions can read them.

import { isObject, type JsonObject } from '#std/json.ts';
import { listElements, objectMembers } from '../../wire/json-walk.ts';
import type { RequestMessage, Span } from '../../wire/message.ts';
import type { Patch } from '../../wire/patch.ts';
import { changeMembers, dropElements } from './edit.ts';
import { objectOf } from './messages.ts';
import { type ParamHeader, paramHeadersMatch, paramHeadersOf, paramHeaderValues } from './param-headers.ts';

export interface ToolSchemas {
  /** Remembers what the tools of a result ask for. */
  learn(bytes: Buffer, result: Span): void;
  /** The same, and what has to change in the bytes so that clients with sessions can read the list. */
  learnForSessions(bytes: Buffer, result: Span): readonly Patch[];
  /** What a call has to be sent with. */
  headers(message: RequestMessage, body: Buffer): Record<string, string>;
  /** Whether what a call came with is what it should have come with, as far as its tool is known. */
  match(message: RequestMessage, body: Buffer, given: Readonly<Record<string, string>>): boolean;
}

/** Tools that ask for headers; more are forgotten, the oldest first. */
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
        // 2026-07-28, Custom Headers from Tool Parameters: such a tool is not offered.
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

/** Until 2025-11-25 an `outputSchema` describes an object, and clients refuse the whole list otherwise. */
function withoutOtherOutput(bytes: Buffer, span: Span, { outputSchema }: JsonObject): readonly Patch[] {
  if (outputSchema === undefined || (isObject(outputSchema) && outputSchema.type === 'object')) return [];
  return changeMembers(bytes, span.start, (key) => key === 'outputSchema') ?? [];
}
