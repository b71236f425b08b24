// Builds the name and attributes of a request's span by OpenTelemetry's conventions for MCP and HTTP. Arguments, tokens
// and the query of the HTTP request never appear.

import type { Json } from '#std/json.ts';
import { sourceAddress } from '../../gate/audit.ts';
import { withoutUserInfo } from '../../gate/audit-change.ts';
import type { MessageId } from '../../wire/message.ts';
import { methodFacts } from '../../wire/methods.ts';
import type { Recording } from './recording.ts';

export interface SpanFacts {
  readonly server: string;
  /** Transport of the MCP server: `stdio`, `sse` or `streamable-http`. */
  readonly transport: string;
  /** `pipe` for stdio servers, `tcp` for other servers. */
  readonly network: 'pipe' | 'tcp';
  /** True if the span also has ToolHive's older attribute names. */
  readonly legacyAttributes: boolean;
  /** Empty if the request did not fail. */
  readonly errorType: string;
}

type Attributes = Record<string, Json | undefined>;

/** Returns the span name. A span name may contain the tool or prompt, but never a URI: span names need few values. */
export function spanName({ request, path, ended }: Recording): string {
  const call = callOf(ended.message);
  if (call === undefined) return `${request.method} ${path}`;
  const feature = methodFacts(call.method)?.feature;
  const named = call.target !== undefined && (feature === 'tool' || feature === 'prompt');
  return named ? `${call.method} ${call.target?.value}` : call.method;
}

export function spanAttributes(facts: SpanFacts, recording: Recording): Readonly<Record<string, Json>> {
  const attributes = { ...httpAttributes(recording), ...mcpAttributes(facts, recording) };
  if (facts.legacyAttributes) Object.assign(attributes, legacyAttributes(facts, recording));
  return definedAttributes(attributes);
}

function callOf(message: Recording['ended']['message']) {
  return message === undefined || message.kind === 'response' ? undefined : message;
}

function httpAttributes({ request, path, ended, source }: Recording): Attributes {
  return {
    'http.request.method': request.method,
    'url.path': path,
    'url.scheme': 'http',
    'server.address': hostOf(request.headers.host),
    'client.address': sourceAddress(source),
    'http.response.status_code': ended.status,
    'http.request.body.size': ended.requestBytes,
    'http.response.body.size': ended.responseBytes,
    'user_agent.original': request.headers['user-agent'],
    'network.protocol.name': 'http',
    'network.protocol.version': request.httpVersion,
  };
}

function mcpAttributes({ server, network, errorType }: SpanFacts, { ended }: Recording): Attributes {
  const { message } = ended;
  const call = callOf(message);
  const feature = call === undefined ? undefined : methodFacts(call.method)?.feature;
  const target = call?.target?.value;
  const uri = feature === 'resource' ? target : undefined;
  return {
    'mcp.server.name': server,
    'mcp.client.name': ended.client?.name,
    'network.transport': network,
    'mcp.method.name': call?.method,
    'mcp.protocol.version': ended.revision,
    'rpc.system.name': call === undefined ? undefined : 'jsonrpc',
    'jsonrpc.protocol.version': call === undefined ? undefined : '2.0',
    'jsonrpc.request.id': message?.kind === 'request' ? idText(message.id) : undefined,
    'rpc.response.status_code': ended.rpcErrorCode === undefined ? undefined : String(ended.rpcErrorCode),
    'gen_ai.tool.name': feature === 'tool' ? target : undefined,
    'gen_ai.operation.name': call?.method === 'tools/call' ? 'execute_tool' : undefined,
    'gen_ai.prompt.name': feature === 'prompt' ? target : undefined,
    'mcp.resource.uri': uri === undefined ? undefined : withoutUserInfo(uri),
    'error.type': errorType === '' ? undefined : errorType,
  };
}

function legacyAttributes({ transport }: SpanFacts, { request, path, ended, seconds }: Recording): Attributes {
  const { message } = ended;
  const call = callOf(message);
  const target = call?.target === undefined ? undefined : withoutUserInfo(call.target.value);
  const host = request.headers.host;
  return {
    'http.method': request.method,
    'http.url': host === undefined ? undefined : `http://${host}${path}`,
    'http.scheme': 'http',
    'http.target': path,
    'http.host': host,
    'http.user_agent': request.headers['user-agent'],
    'http.status_code': ended.status,
    'http.request_content_length': ended.requestBytes,
    'http.response_content_length': ended.responseBytes,
    'http.duration_ms': Math.round(seconds * 1000),
    'mcp.method': call?.method,
    'mcp.request.id': message?.kind === 'request' ? idText(message.id) : undefined,
    'mcp.resource.id': target,
    'mcp.tool.name': call?.method === 'tools/call' ? target : undefined,
    'mcp.prompt.name': call?.method === 'prompts/get' ? target : undefined,
    'mcp.transport': transport,
    'rpc.system': call === undefined ? undefined : 'jsonrpc',
    'rpc.service': call === undefined ? undefined : 'mcp',
  };
}

function hostOf(host: string | undefined): string | undefined {
  return host?.replace(/:\d*$/, '');
}

/** Returns a JSON-RPC id as text. String ids lose their quotes. */
function idText({ json }: MessageId): string {
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}

function definedAttributes(attributes: Readonly<Attributes>): Record<string, Json> {
  const kept: Record<string, Json> = {};
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
