import { expect, test } from 'vitest';
import { type AnsweredCall, createProxyMetrics } from './metrics.ts';

function started() {
  return createProxyMetrics({
    version: '1',
    server: 'fleet',
    transport: 'stdio',
    isKnownMethod: (method) => method.startsWith('tools/') || method.startsWith('prompts/'),
    isKnownRevision: (revision) => revision === '2025-11-25',
  });
}

const CALL: AnsweredCall = {
  httpMethod: 'POST',
  status: 200,
  failed: false,
  mcpMethod: 'tools/call',
  target: 'echo',
  isTool: true,
  revision: '2025-11-25',
  seconds: 0.03,
  errorType: '',
  reason: '',
};

function samples(text: string, family: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(family));
}

test('counts a call under the metric names of ToolHive dashboards', () => {
  const proxy = started();
  proxy.active(1);
  proxy.streams(1);
  proxy.answered(CALL);
  proxy.answered({ ...CALL, failed: true, errorType: 'tool_error' });
  const text = proxy.metrics.text();
  const labels = 'method="POST",status_code="200",status="success",mcp_method="tools/call",mcp_resource_id="echo"';
  expect(text).toContain(`toolhive_mcp_requests_total{${labels},server="fleet",transport="stdio"} 1\n`);
  expect(text).toContain(
    `toolhive_mcp_request_duration_seconds_bucket{${labels},server="fleet",transport="stdio",le="0.05"} 1\n`,
  );
  expect(text).toContain('toolhive_mcp_tool_calls_total{server="fleet",tool="echo",status="error"} 1\n');
  expect(samples(text, 'toolhive_mcp_active_connections')).toEqual([
    'toolhive_mcp_active_connections{server="fleet",transport="stdio",connection_type=""} 1',
    'toolhive_mcp_active_connections{server="fleet",transport="stdio",connection_type="sse"} 1',
  ]);
  expect(text).toContain(
    'mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",mcp_protocol_version="2025-11-25",' +
      'jsonrpc_protocol_version="2.0",network_transport="pipe",gen_ai_operation_name="execute_tool",' +
      'gen_ai_tool_name="echo",gen_ai_prompt_name="",error_type="tool_error"} 1\n',
  );
});

test('a request that is not an MCP message does not count as an operation', () => {
  const proxy = started();
  proxy.answered({ ...CALL, mcpMethod: '', target: '', isTool: false, status: 401, failed: true, reason: 'token' });
  const text = proxy.metrics.text();
  expect(text).not.toContain('mcp_server_operation_duration_seconds_count');
  expect(text).toContain('skep_proxy_refusals_total{server="fleet",reason="token"} 1\n');
});

test('bounds the length of the metrics text if clients invent names, methods, revisions and codes', () => {
  const proxy = started();
  for (let index = 0; index < 10_000; index += 1) {
    const invented = { target: `no-such-tool-${index}`, failed: true, errorType: String(-index), reason: '' };
    proxy.answered({ ...CALL, ...invented });
    proxy.answered({ ...CALL, ...invented, mcpMethod: `method/${index}`, isTool: false, target: '' });
    proxy.answered({ ...CALL, ...invented, revision: `2000-${index}` });
  }
  expect(samples(proxy.metrics.text(), 'toolhive_mcp_tool_calls_total').length).toBeLessThanOrEqual(51);
  expect(proxy.metrics.text().length).toBeLessThan(1_000_000);
});

test('keeps the names of known tools after many invented names, up to a separate bound', () => {
  const proxy = started();
  for (let index = 0; index < 10_000; index += 1) {
    proxy.answered({ ...CALL, target: `no-such-tool-${index}`, failed: true, errorType: '-32602' });
  }
  for (let index = 0; index < 1000; index += 1) proxy.answered({ ...CALL, target: `tool-${index}` });
  const text = proxy.metrics.text();
  expect(text).toContain('tool="tool-0",status="success"');
  expect(samples(text, 'toolhive_mcp_tool_calls_total').length).toBeLessThanOrEqual(252);
});

test('replaces a name that is longer than the limit of labels', () => {
  const proxy = started();
  proxy.answered({ ...CALL, target: 'x'.repeat(129) });
  expect(proxy.metrics.text()).toContain('tool="other"');
});
