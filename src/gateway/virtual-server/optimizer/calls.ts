// Handles tool calls while a virtual server offers only find_tool and call_tool: answers find_tool, and converts
// call_tool to a call of the named tool.

import { isObject } from '#std/json.ts';
import type { Answer, Exchange, Flow } from '../../backends/backend.ts';
import { createLaterFlow, NO_FLOW } from '../../backends/bridge/context.ts';
import { objectOf, resultMessage } from '../../backends/bridge/messages.ts';
import { createReply } from '../../backends/bridge/reply.ts';
import { encodeHeaderValue, HEADERS } from '../../wire/headers.ts';
import type { RequestMessage } from '../../wire/message.ts';
import type { Offer } from '../catalogue/assemble.ts';
import type { World } from '../world.ts';
import { CALL_TOOL, FIND_TOOL } from './definitions.ts';
import type { ToolMatches } from './find.ts';
import { readInnerCall } from './inner-call.ts';

export interface OptimizedCall {
  readonly exchange: Exchange;
  readonly body: Buffer;
  readonly request: RequestMessage;
}

type Tools = Pick<World, 'optimizer' | 'permittedTools' | 'denial' | 'log'>;

/** Returns a flow if the call is answered, or else the call to continue with. */
export function passOptimizer(
  world: Tools,
  offer: Offer,
  call: OptimizedCall,
  answer: Answer,
): { readonly flow: Flow } | { readonly call: OptimizedCall } {
  const { request } = call;
  if (request.method !== 'tools/call') return { call };
  if (offer.searched === undefined) return passWithoutOptimizer(world, call, answer);
  if (request.target?.value === FIND_TOOL) return { flow: answerFind(world, offer.searched, call, answer) };
  if (request.target?.value !== CALL_TOOL) return refuseCall(call, answer, `tool not found: ${request.target?.value}`);
  const inner = readInnerCall(call.body, request);
  if (!inner.ok) return refuseCall(call, answer, inner.message);
  const { tool, body, message } = inner;
  // Policies decide first: a caller must not learn whether a forbidden tool exists.
  const denial = world.denial(call.exchange, body, message);
  if (denial !== undefined) return refuseCall(call, answer, denial);
  if (!offer.searched.items.some(({ key }) => key === tool)) return refuseCall(call, answer, `tool not found: ${tool}`);
  world.log('debug', { tool }, 'call_tool calls a tool');
  const { headers } = call.exchange;
  const named = headers[HEADERS.name] === undefined ? headers : { ...headers, [HEADERS.name]: encodeHeaderValue(tool) };
  return { call: { exchange: { ...call.exchange, body, message, headers: named }, body, request: message } };
}

/**
 * Passes a call while the optimizer is off. The gate passes find_tool and call_tool without a permit. Therefore this
 * function asks the policies about a backend's tool with one of these names.
 */
function passWithoutOptimizer(world: Tools, call: OptimizedCall, answer: Answer): ReturnType<typeof passOptimizer> {
  const { exchange, body, request } = call;
  const isOwn = [FIND_TOOL, CALL_TOOL].includes(request.target?.value ?? '');
  const denial = isOwn ? world.denial(exchange, body, request) : undefined;
  return denial === undefined ? { call } : refuseCall(call, answer, denial);
}

function refuseCall({ exchange, request }: OptimizedCall, answer: Answer, text: string): { readonly flow: Flow } {
  const result = JSON.stringify({ content: [{ type: 'text', text }], isError: true });
  finish(exchange, request, answer, result);
  return { flow: NO_FLOW };
}

function finish({ era }: Exchange, { id }: RequestMessage, answer: Answer, result: string): void {
  const complete = era === 'stateless' ? `{"resultType":"complete",${result.slice(1)}` : result;
  createReply(answer).finish(resultMessage(id.json, complete));
}

/** Bounds of the search texts: a longer text would slow the search without better results. */
const DESCRIPTION_MAX = 4096;
const KEYWORDS_MAX = 64;
const KEYWORD_MAX = 256;

/** Shortens a text. Replaces half a surrogate pair at the end, because embedding services refuse it. */
function beginning(text: string, length: number): string {
  return text.slice(0, length).toWellFormed();
}

function answerFind(world: Tools, list: NonNullable<Offer['searched']>, call: OptimizedCall, answer: Answer): Flow {
  const { exchange, body, request } = call;
  const { arguments: given } = objectOf(body, request.params);
  const { tool_description: description, tool_keywords: keywords = [] } = isObject(given) ? given : {};
  if (typeof description !== 'string') return refuseCall(call, answer, 'find_tool needs tool_description, a text').flow;
  if (!Array.isArray(keywords) || !keywords.every((each) => typeof each === 'string'))
    return refuseCall(call, answer, 'find_tool takes a list of texts as tool_keywords').flow;
  const flow = createLaterFlow();
  const query = {
    description: beginning(description, DESCRIPTION_MAX),
    keywords: keywords.slice(0, KEYWORDS_MAX).map((keyword) => beginning(keyword, KEYWORD_MAX)),
    era: exchange.era,
    permits: world.permittedTools(exchange),
  };
  world.optimizer.find(list, query).then(
    (found) => {
      if (!flow.aborted()) finish(exchange, request, answer, foundResult(found));
    },
    (error: unknown) => {
      world.log('warn', { error: String(error) }, 'a search for tools failed');
      if (!flow.aborted()) refuseCall(call, answer, 'the search for tools failed');
    },
  );
  return flow;
}

/** Formats the result as ToolHive does: the tools, and the number of saved tokens. */
function foundResult({ tools, baselineTokens, returnedTokens, note }: ToolMatches): string {
  const saved = baselineTokens === 0 ? 0 : (100 * (baselineTokens - returnedTokens)) / baselineTokens;
  const metrics = {
    baseline_tokens: baselineTokens,
    returned_tokens: returnedTokens,
    savings_percent: Math.round(saved * 100) / 100,
  };
  const said = note === undefined ? '' : `,"note":${JSON.stringify(note)}`;
  const text = `{"tools":[${tools.join(',')}],"token_metrics":${JSON.stringify(metrics)}${said}}`;
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
}
