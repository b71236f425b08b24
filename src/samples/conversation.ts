// Handles the JSON-RPC messages between one client and a sample server, by MCP 2025-11-25 and earlier revisions.

import { ERRORS } from '#gateway/wire/errors.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { inputSchema, readArguments } from './parameters.ts';
import type { SampleServer, Tool, WaitingClient } from './server.ts';

const REVISIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

type Send = (message: JsonObject) => void;

export interface Conversation {
  /**
   * Handles a message of the client. `send` receives the response, and the notifications and requests that precede it.
   */
  readonly receive: (message: unknown, send: Send) => Promise<void>;
}

interface ConversationState {
  canAsk: boolean;
  asked: number;
  readonly waiting: Map<string, (answer: JsonObject) => void>;
}

/** A JSON-RPC error. Errors of a tool itself are results instead. */
interface RpcError {
  readonly error: { readonly code: number; readonly message: string };
}

type RpcOutcome = { readonly result: JsonObject } | RpcError;

export function openConversation(server: SampleServer, version: string): Conversation {
  const state: ConversationState = { canAsk: false, asked: 0, waiting: new Map() };
  return {
    receive: async (message, send) => {
      if (!isObject(message)) return send(refusal(ERRORS.invalidRequest, 'a message is an object'));
      const { id, method, params } = message;
      if (typeof method !== 'string') return state.waiting.get(String(id))?.(message);
      if (id === undefined) return;
      const given = isObject(params) ? params : {};
      const outcome = await answerRequest({ server, version, state, send }, method, given).catch(refuseFailed);
      send({ jsonrpc: '2.0', id, ...outcome });
    },
  };
}

function refusal(code: number, message: string): { error: { code: number; message: string } } {
  return { error: { code, message } };
}

/** Returns an error response, because the client waits for a response even if, for example, a file is missing. */
function refuseFailed(error: unknown): RpcError {
  return refusal(ERRORS.internalError, error instanceof Error ? error.message : String(error));
}

interface ConversationContext {
  readonly server: SampleServer;
  readonly version: string;
  readonly state: ConversationState;
  readonly send: Send;
}

async function answerRequest(context: ConversationContext, method: string, params: JsonObject): Promise<RpcOutcome> {
  const { server } = context;
  switch (method) {
    case 'initialize':
      return { result: initialize(context, params) };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: server.tools.map(describeTool) } };
    case 'tools/call':
      return callTool(context, params);
    case 'resources/list':
      return { result: { resources: ((await server.resources?.list()) ?? []).map((each) => ({ ...each })) } };
    case 'resources/read':
      return readResource(server, String(params.uri));
    case 'prompts/list':
      return { result: { prompts: (server.prompts ?? []).map(describePrompt) } };
    case 'prompts/get':
      return getPrompt(server, params);
    default:
      return refusal(ERRORS.methodNotFound, `there is no method ${method}`);
  }
}

function initialize({ server, version, state }: ConversationContext, params: JsonObject): JsonObject {
  const { capabilities, protocolVersion } = params;
  state.canAsk = isObject(capabilities) && isObject(capabilities.elicitation);
  const revision = REVISIONS.find((known) => known === protocolVersion) ?? REVISIONS[0];
  return {
    protocolVersion: revision,
    capabilities: {
      tools: {},
      ...(server.resources === undefined ? {} : { resources: {} }),
      ...(server.prompts === undefined ? {} : { prompts: {} }),
    },
    serverInfo: { name: server.name, title: server.title, version },
    instructions: server.instructions,
  };
}

function describeTool({ name, title, description, parameters, annotations, outputSchema }: Tool): JsonObject {
  return {
    name,
    title,
    description,
    inputSchema: inputSchema(parameters),
    outputSchema,
    annotations: { ...annotations },
  };
}

function describePrompt({ name, description, parameters }: NonNullable<SampleServer['prompts']>[number]): JsonObject {
  const args = Object.entries(parameters).map(([key, { description: text, optional }]) => {
    return { name: key, description: text, required: optional !== true };
  });
  return { name, description, arguments: args };
}

async function callTool(context: ConversationContext, params: JsonObject): Promise<RpcOutcome> {
  const tool = context.server.tools.find(({ name }) => name === params.name);
  if (tool === undefined) return refusal(ERRORS.invalidParams, `there is no tool ${String(params.name)}`);
  const given = readArguments(tool.parameters, params.arguments);
  if (typeof given === 'string') return { result: toolResult({ text: given, failed: true }) };
  return { result: toolResult(await tool.call(given, callerOf(context, params))) };
}

function toolResult({ text, structured, failed }: Awaited<ReturnType<Tool['call']>>): JsonObject {
  return { content: [{ type: 'text', text }], structuredContent: structured, isError: failed };
}

function callerOf({ state, send }: ConversationContext, { _meta }: JsonObject): WaitingClient {
  const progressToken = isObject(_meta) ? _meta.progressToken : undefined;
  return {
    progress: (done, total, message) => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: done, total, message };
      send({ jsonrpc: '2.0', method: 'notifications/progress', params });
    },
    confirm: async (question) => {
      if (!state.canAsk) return 'unable';
      const { result } = await ask(state, send, question);
      // A proxy may refuse a request that it cannot attribute to one client. The response then has no result.
      if (!isObject(result)) return 'unanswered';
      return result.action === 'accept' ? 'yes' : 'no';
    },
  };
}

/** Asks the client's user for a yes or no, by a form without fields (MCP 2025-11-25, Elicitation). */
function ask(state: ConversationState, send: Send, message: string): Promise<JsonObject> {
  state.asked += 1;
  const id = `ask-${state.asked}`;
  const answered = new Promise<JsonObject>((resolve) => state.waiting.set(id, resolve));
  const requestedSchema = { type: 'object', properties: {} };
  send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message, requestedSchema } });
  return answered.finally(() => state.waiting.delete(id));
}

async function readResource({ resources }: SampleServer, uri: string): Promise<RpcOutcome> {
  const read = await resources?.read(uri);
  if (read === undefined) return refusal(ERRORS.resourceNotFound, `there is no resource ${uri}`);
  return { result: { contents: [{ uri, ...read }] } };
}

async function getPrompt({ prompts = [] }: SampleServer, params: JsonObject): Promise<RpcOutcome> {
  const prompt = prompts.find(({ name }) => name === params.name);
  if (prompt === undefined) return refusal(ERRORS.invalidParams, `there is no prompt ${String(params.name)}`);
  const parameters = Object.entries(prompt.parameters).map(([name, each]) => [
    name,
    { type: 'string' as const, ...each },
  ]);
  const given = readArguments(Object.fromEntries(parameters), params.arguments);
  if (typeof given === 'string') return refusal(ERRORS.invalidParams, given);
  const text = await prompt.write(given);
  return {
    result: { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] },
  };
}
