// Sends spans of requests over OTLP/HTTP with OpenTelemetry's packages, which only this file loads.

import type { Context, Span, SpanContext } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { BeginSpan, CallSpan, TraceContext } from '#gateway/proxy/ports.ts';
import { readTraceParent, textOfTraceParent } from '#std/telemetry/trace.ts';
import { EXPORT_MS, type Sent } from './sent.ts';
import { type Collector, exporterOptions } from './settings.ts';

export interface TraceOptions {
  readonly collector: Collector;
  readonly version: string;
  readonly resource: Readonly<Record<string, string>>;
  /** Share (0 to 1) of sampled requests among requests whose sender has not decided whether to sample. */
  readonly samplingRate: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly sent: Sent;
}

export interface Traces {
  readonly begin: BeginSpan;
  close(): Promise<void>;
}

type OpenTelemetryApi = typeof import('@opentelemetry/api');

export async function openTraces(options: TraceOptions): Promise<Traces> {
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const exporter = new OTLPTraceExporter({
    ...exporterOptions(options.collector, 'traces'),
    timeoutMillis: EXPORT_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ ...options.resource }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(options.samplingRate) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: observed(exporter, options.sent) })],
  });
  const tracer = provider.getTracer('skep', options.version);
  const { attributes } = options;
  return {
    begin(parent, startTime, part) {
      const outer = contextOf(api, parent);
      const kind = part === undefined ? api.SpanKind.SERVER : api.SpanKind.INTERNAL;
      const span = tracer.startSpan('request', { kind, startTime, attributes }, outer);
      return callSpan(api, span, parent);
    },
    close: () => provider.shutdown(),
  };
}

/** Wraps an exporter to report the result of each batch. */
function observed(exporter: SpanExporter, sent: Sent): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        sent(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns the context. `tracestate` is ignored without a valid `traceparent` (W3C Trace Context, section 4.3). */
function contextOf(api: OpenTelemetryApi, { traceparent, tracestate }: TraceContext): Context {
  const parent = readTraceParent(traceparent);
  if (parent === undefined) return api.ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  const traceFlags = sampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE;
  const traceState = tracestate === undefined ? undefined : api.createTraceState(tracestate);
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, traceState, isRemote: true });
}

function callSpan(api: OpenTelemetryApi, span: Span, { baggage }: TraceContext): CallSpan {
  const own = span.spanContext();
  return {
    context: { traceparent: parentText(api, own), tracestate: own.traceState?.serialize() || undefined, baggage },
    recording: span.isRecording(),
    traceId: own.traceId,
    end(name, attributes, failed) {
      span.updateName(name);
      for (const key in attributes) {
        const value = attributes[key];
        if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
          span.setAttribute(key, value);
        }
      }
      if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function parentText(api: OpenTelemetryApi, { traceId, spanId, traceFlags }: SpanContext): string {
  return textOfTraceParent({ traceId, spanId, sampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0 });
}
