// Records a request that has ended in audit, metrics, span and log.

import { type AuditEvent, type AuditInput, type AuditSource, auditEvent } from '../../gate/audit.ts';
import { webhookChange } from '../../gate/audit-change.ts';
import type { AuditData } from '../../gate/audit-contents.ts';
import { singleHeader } from '../../wire/headers.ts';
import { methodFacts } from '../../wire/methods.ts';
import type { Ended } from '../entry.ts';
import type { ProxyMetrics } from '../metrics.ts';
import type { ProxyLog } from '../ports.ts';
import type { RecordedCall, Recording } from './recording.ts';
import { type SpanFacts, spanAttributes, spanName } from './span.ts';

export interface AuditTrail {
  readonly component: string;
  readonly write: (event: AuditEvent) => void;
  /** Returns the current settings for request and response data in events. */
  readonly data?: () => AuditData;
  readonly newId: () => string;
  readonly now: () => number;
}

export interface Recorders extends Omit<SpanFacts, 'errorType'> {
  /** undefined if auditing is off. */
  readonly audit: AuditTrail | undefined;
  readonly metrics: ProxyMetrics;
  readonly log: ProxyLog;
}

export function recordCall(recorders: Recorders, recorded: RecordedCall): void {
  const { request, seconds, ended, span } = recorded;
  const call = ended.message === undefined || ended.message.kind === 'response' ? undefined : ended.message;
  const mcpMethod = call?.method ?? '';
  const feature = methodFacts(mcpMethod)?.feature;
  const named = feature === 'tool' || feature === 'prompt';
  const failed = ended.outcome !== 'success' && (ended.status >= 400 || ended.outcome !== 'unknown');
  const errorType = failed ? errorTypeOf(ended) : '';
  recorders.metrics.answered({
    httpMethod: request.method ?? '',
    status: ended.status,
    failed,
    mcpMethod,
    target: named ? (call?.target?.value ?? '') : '',
    isTool: mcpMethod === 'tools/call',
    revision: ended.revision ?? '',
    seconds,
    errorType,
    reason: ended.reason,
  });
  const keeps = recorders.audit !== undefined || span?.recording === true;
  const recording: Recording | undefined = keeps ? { ...recorded, source: sourceOf(recorded) } : undefined;
  if (recording !== undefined) auditCall(recorders, recording);
  logCall(recorders.log, recorded, mcpMethod);
  if (recording === undefined || span?.recording !== true) return;
  // A client's error is not an error of the server span (OpenTelemetry semantic conventions for HTTP, status of spans).
  const broke = failed && (ended.status < 400 || ended.status >= 500);
  span.end(spanName(recording), spanAttributes({ ...recorders, errorType }, recording), broke);
}

/** Writes the audit event. Logs a failure and does not throw, so that the caller can write the other records. */
function auditCall({ audit, log }: Recorders, recording: Recording): void {
  if (audit === undefined) return;
  try {
    audit.write(auditEvent(auditInput(audit, recording)));
  } catch (error) {
    const { requestId, path } = recording;
    log.error({ requestId, path, reason: String(error) }, 'the audit event of a request was not written');
  }
}

/**
 * Returns `error.type` of OpenTelemetry's MCP conventions: the gateway's own code, `tool_error`, the JSON-RPC code, or
 * the HTTP status.
 */
function errorTypeOf({ status, outcome, reason, rpcErrorCode }: Ended): string {
  if (reason !== '') return reason;
  if (outcome === 'tool-error') return 'tool_error';
  return String(rpcErrorCode ?? (status >= 400 ? status : '_OTHER'));
}

/** Returns the source of a request for audit and span. */
function sourceOf({ request: { headers, socket }, requestId, forwarded }: RecordedCall): AuditSource {
  return {
    peer: socket.remoteAddress ?? '',
    forwardedFor: singleHeader(headers, 'x-forwarded-for'),
    realIp: singleHeader(headers, 'x-real-ip'),
    trusted: forwarded.trusted,
    userAgent: headers['user-agent'],
    requestId,
  };
}

function auditInput(audit: AuditTrail, recording: Recording): AuditInput {
  const { request, path, seconds, ended, source } = recording;
  const { method = '' } = request;
  const stream = method === 'GET' && ended.status < 400;
  // A refused inner call gets a tool result with `isError`, so that the model can read the reason.
  const inner = ended.outcome === 'tool-error' ? ended.innerRefusal?.() : undefined;
  return {
    auditId: audit.newId(),
    timeMs: audit.now(),
    durationMs: seconds * 1000,
    component: audit.component,
    httpMethod: method,
    path,
    stream,
    message: ended.message,
    status: ended.status,
    answer: ended.outcome === 'denied' ? 'unknown' : ended.outcome,
    rpcErrorCode: ended.rpcErrorCode,
    refusal: inner?.refusal.reason ?? ended.reason,
    refusalDetail: inner?.detail ?? ended.refusalDetail,
    source,
    claims: ended.caller?.claims ?? {},
    client: ended.client,
    transport: stream ? 'sse' : 'http',
    responseBytes: ended.responseBytes,
    backendName: ended.backendName,
    innerTool: ended.innerTool,
    rateLimits: ended.rateLimits,
    webhooks: ended.webhooks,
    change: ended.received && ended.body && webhookChange(ended.received, ended.body),
    contents:
      audit.data === undefined
        ? undefined
        : { settings: audit.data(), request: ended.body, received: ended.received, response: ended.answer },
  };
}

/** Logs at error level if gateway or server failed, at info level if a detail exists, otherwise at debug level. */
function logCall(
  log: ProxyLog,
  { request, requestId, path, seconds, ended, span }: RecordedCall,
  mcpMethod: string,
): void {
  const { status, reason, detail } = ended;
  const broke = status >= 500;
  const traceId = span?.traceId;
  if (broke || detail !== undefined) {
    log[broke ? 'error' : 'info']({ requestId, traceId, path, mcpMethod, status, seconds, reason, detail }, 'request');
    return;
  }
  log.debug({ requestId, traceId, path, mcpMethod, status, seconds, method: request.method, reason }, 'request');
}
