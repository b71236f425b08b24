// Counts the requests of a proxy in metrics with the names of ToolHive and of OpenTelemetry's MCP conventions. Labels
// with values from clients have a bounded number of values.

import { type BoundGauge, createMetrics, type Metrics } from '#std/telemetry/metrics.ts';

export interface AnsweredCall {
  readonly httpMethod: string;
  readonly status: number;
  /** True if HTTP, JSON-RPC or the tool reported an error. */
  readonly failed: boolean;
  /** Empty for requests that are not MCP messages. */
  readonly mcpMethod: string;
  /** Name of the tool or prompt. Empty for other requests, and for resources because URIs are unlimited. */
  readonly target: string;
  readonly isTool: boolean;
  /** `error.type` of OpenTelemetry. Empty without an error. */
  readonly errorType: string;
  readonly revision: string;
  readonly seconds: number;
  /** Stable code of a refusal or fault. Empty for other requests. */
  readonly reason: string;
}

export interface ProxyMetrics {
  readonly metrics: Metrics;
  answered(call: AnsweredCall): void;
  /** Counts the beginning (1) or end (-1) of a request. */
  active(change: 1 | -1): void;
  /** Counts a message between server and clients that was dropped. `reason` is a stable code. */
  dropped(reason: string): void;
  /** Counts the opening (1) or closing (-1) of a stream. */
  streams(change: 1 | -1): void;
  /** Sets the number of definitions in a list that differ from the reviewed definitions. */
  drifted(list: string, count: number): void;
}

/** Upper bounds of the buckets in seconds, as in ToolHive. */
const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** Maximum number of tool and prompt names as labels. Further names become `other`. */
const TARGETS_MAX = 200;
/** Maximum number of names without a successful call as labels: clients can invent names. */
const UNPROVEN_MAX = 50;
/** Maximum number of error codes as labels: servers can invent codes. */
const ERROR_TYPES_MAX = 50;
/** Version of JSON-RPC in every MCP message. */
const JSONRPC = '2.0';

/** OTLP names, labels and kinds that cannot be derived from the names in this file. */
export const OTLP_NAMES = {
  mcp_server_operation_duration_seconds: {
    name: 'mcp.server.operation.duration',
    labels: [
      'mcp.method.name',
      'mcp.protocol.version',
      'jsonrpc.protocol.version',
      'network.transport',
      'gen_ai.operation.name',
      'gen_ai.tool.name',
      'gen_ai.prompt.name',
      'error.type',
    ],
  },
  toolhive_mcp_active_connections: { additive: true },
} as const;

export interface MetricsFacts {
  readonly version: string;
  readonly server: string;
  /** Transport of the MCP server: `stdio`, `sse` or `streamable-http`. */
  readonly transport: string;
  readonly isKnownMethod: (method: string) => boolean;
  readonly isKnownRevision: (revision: string) => boolean;
}

export function createProxyMetrics({
  version,
  server,
  transport,
  isKnownMethod,
  isKnownRevision,
}: MetricsFacts): ProxyMetrics {
  const metrics = createMetrics();
  metrics.gauge('skep_build_info', 'Release of this program.', ['version']).set([version], 1);
  const families = addFamilies(metrics);
  const { refusals, drops, connections, drifts } = families;
  const targetLabel = boundedLabel(TARGETS_MAX, UNPROVEN_MAX);
  const errorLabel = boundedLabel(ERROR_TYPES_MAX, ERROR_TYPES_MAX);
  const open = { request: 0, stream: 0 };
  const connection: { request?: BoundGauge; stream?: BoundGauge } = {};

  /** Functions that count one kind of call, by its label values. */
  const kinds = new Map<string, (seconds: number) => void>();

  function change(type: 'request' | 'stream', by: 1 | -1): void {
    open[type] += by;
    connection[type] ??= connections.at([server, transport, type === 'stream' ? 'sse' : '']);
    connection[type].set(open[type]);
  }

  return {
    metrics,
    answered(call) {
      // A successful call proves that the server knows the target.
      const target = targetLabel(call.target, !call.failed);
      const method = call.mcpMethod === '' || isKnownMethod(call.mcpMethod) ? call.mcpMethod : 'other';
      const error = method === '' ? '' : errorLabel(call.errorType, false);
      const revision = isKnownRevision(call.revision) ? call.revision : '';
      const outcome = `${call.httpMethod} ${call.status} ${call.failed ? 'e' : 's'}${call.isTool ? 't' : ''}`;
      const key = `${outcome} ${method} ${revision} ${error}\0${target}`;
      let counted = kinds.get(key);
      if (counted === undefined) {
        counted = countAs(
          families,
          { server, transport },
          { ...call, mcpMethod: method, revision, target, errorType: error },
        );
        kinds.set(key, counted);
      }
      counted(call.seconds);
      if (call.reason !== '') refusals.add([server, call.reason]);
    },
    dropped: (reason) => drops.add([server, reason]),
    active: (by) => change('request', by),
    streams: (by) => change('stream', by),
    drifted: (list, count) => drifts.set([server, list], count),
  };
}

type Families = ReturnType<typeof addFamilies>;

function addFamilies(metrics: Metrics) {
  const shared = ['method', 'status_code', 'status', 'mcp_method', 'mcp_resource_id', 'server', 'transport'];
  const requests = metrics.counter('toolhive_mcp_requests_total', 'Requests that were answered.', shared);
  const durations = metrics.histogram(
    'toolhive_mcp_request_duration_seconds',
    'Time until the end of an answer, in seconds.',
    shared,
    SECONDS,
  );
  const operations = metrics.histogram(
    'mcp_server_operation_duration_seconds',
    'Time until the end of the answer to an MCP request, in seconds.',
    OTLP_NAMES.mcp_server_operation_duration_seconds.labels.map((label) => label.replaceAll('.', '_')),
    SECONDS,
  );
  const tools = metrics.counter('toolhive_mcp_tool_calls_total', 'Calls of tools.', ['server', 'tool', 'status']);
  const refusals = metrics.counter('skep_proxy_refusals_total', 'Requests that were refused or failed, by reason.', [
    'server',
    'reason',
  ]);
  const drops = metrics.counter('skep_proxy_messages_dropped_total', 'Dropped messages, by reason.', [
    'server',
    'reason',
  ]);
  const connections = metrics.gauge('toolhive_mcp_active_connections', 'Requests under way and open streams.', [
    'server',
    'transport',
    'connection_type',
  ]);
  const drifts = metrics.gauge(
    'skep_proxy_definitions_drifted',
    'Definitions of the MCP server that differ from its ToolLock, by list.',
    ['server', 'list'],
  );
  return { requests, durations, operations, tools, refusals, drops, connections, drifts };
}

/** Returns a function that counts one kind of call, so that labels are looked up once per kind. */
function countAs(
  { requests, durations, operations, tools }: Families,
  { server, transport }: Pick<MetricsFacts, 'server' | 'transport'>,
  call: AnsweredCall,
): (seconds: number) => void {
  const { mcpMethod: method, target, isTool, errorType } = call;
  const status = call.failed ? 'error' : 'success';
  const labels = [call.httpMethod, String(call.status), status, method, target, server, transport];
  const request = requests.at(labels);
  const duration = durations.at(labels);
  const network = transport === 'stdio' ? 'pipe' : 'tcp';
  const named = isTool ? ['execute_tool', target, ''] : ['', '', target];
  const operation =
    method === '' ? undefined : operations.at([method, call.revision, JSONRPC, network, ...named, errorType]);
  const tool = isTool ? tools.at([server, target, status]) : undefined;
  return (seconds) => {
    request.add();
    duration.observe(seconds);
    operation?.observe(seconds);
    tool?.add();
  };
}

/**
 * Returns a function that keeps the first texts as labels, and returns `other` for further texts. `proven` is true if
 * the server knows the text.
 */
function boundedLabel(max: number, unprovenMax: number): (text: string, proven: boolean) => string {
  const known = new Set<string>();
  const unproven = new Set<string>();
  return (text, proven) => {
    if (text === '' || known.has(text)) return text;
    if (text.length > 128) return 'other';
    if (proven && known.size < max) {
      unproven.delete(text);
      known.add(text);
      return text;
    }
    if (unproven.has(text)) return text;
    if (proven || unproven.size >= unprovenMax) return 'other';
    unproven.add(text);
    return text;
  };
}
