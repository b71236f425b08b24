// Opens OpenTelemetry tracing if standard environment variables enable it; otherwise loads no OpenTelemetry code. Spans
// are sent as JSON over OTLP/HTTP.

import type { Context, SpanContext, Tracer } from '@opentelemetry/api';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { type BeginRequest, type Trace, type TraceParent, textOfTraceParent } from '#std/telemetry/trace.ts';
import { VERSION } from './version.ts';

export interface Tracing extends Trace {
  /** Returns the id of the current trace. */
  traceId(): string | undefined;
  /** Returns the header `traceparent` for requests that are sent in the current span. */
  traceParent(): string | undefined;
  readonly request: BeginRequest;
  /** Sends the remaining spans, and ends tracing. */
  close(): Promise<void>;
}

export function wantsTraces(environment: Environment): boolean {
  const endpoint = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? '';
  const off = environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || environment.OTEL_TRACES_EXPORTER === 'none';
  return endpoint !== '' && !off;
}

/** Returns undefined if tracing is not enabled. The exporter reads further standard environment variables. */
export async function openTracing(environment: Environment): Promise<Tracing | undefined> {
  if (!wantsTraces(environment)) return undefined;
  const [api, { BatchSpanProcessor, TracerProvider }, resources, { OTLPTraceExporter }, hooks] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/context-async-hooks'),
  ]);
  const contexts = new hooks.AsyncLocalStorageContextManager().enable();
  api.context.setGlobalContextManager(contexts);
  const named = { 'service.name': environment.OTEL_SERVICE_NAME ?? 'skep', 'service.version': VERSION };
  const given = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new TracerProvider({
    resource: resources.defaultResource().merge(resources.resourceFromAttributes(named)).merge(given),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracer = provider.getTracer('skep', VERSION);
  return {
    span: (name, facts, task) =>
      tracer.startActiveSpan(name, { attributes: facts }, async (span) => {
        try {
          return await task();
        } catch (error) {
          // Spans contain only the error code. Messages of other systems are only in the log.
          const message = error instanceof Failure ? error.code : 'bug';
          span.setStatus({ code: api.SpanStatusCode.ERROR, message });
          throw error;
        } finally {
          span.end();
        }
      }),
    traceId: () => api.trace.getActiveSpan()?.spanContext().traceId,
    traceParent() {
      const active = api.trace.getActiveSpan()?.spanContext();
      return active === undefined ? undefined : textOfTraceParent(parentOf(api, active));
    },
    request: requestsOf(api, tracer),
    async close() {
      // An unavailable collector must not delay the end of the process.
      await provider.shutdown().catch(() => undefined);
      contexts.disable();
      api.context.disable();
    },
  };
}

type Api = typeof import('@opentelemetry/api');

function requestsOf(api: Api, tracer: Tracer): BeginRequest {
  return (method, parent) => {
    const outer = parent === undefined ? api.ROOT_CONTEXT : contextOf(api, parent);
    const attributes = { 'http.request.method': method };
    const span = tracer.startSpan(method, { kind: api.SpanKind.SERVER, attributes }, outer);
    return {
      traceId: span.spanContext().traceId,
      during: (task) => api.context.with(api.trace.setSpan(outer, span), task),
      ended(route, status) {
        if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
        span.setAttribute('http.response.status_code', status);
        if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.end();
      },
    };
  };
}

function contextOf(api: Api, { traceId, spanId, sampled }: TraceParent): Context {
  const traceFlags = sampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function parentOf(api: Api, { traceId, spanId, traceFlags }: SpanContext): TraceParent {
  return { traceId, spanId, sampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0 };
}
