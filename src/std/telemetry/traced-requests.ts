// Continues traces in a Fastify application: log lines contain the trace id, and each request is a span if tracing is
// on.

import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { type BeginRequest, type RequestSpan, readTraceParent } from './trace.ts';

type ChildLoggerFactory = NonNullable<FastifyServerOptions['childLoggerFactory']>;

export interface TracedRequests {
  /** Option for creating the application. */
  readonly childLoggerFactory: ChildLoggerFactory;
  /** Adds the hooks. Must be called before other hooks are added. */
  addTo(app: FastifyInstance): void;
}

/**
 * Without `begin`, no spans exist, and only the log contains trace ids. Requests of `untraced` paths, such as health
 * checks, have no spans.
 */
export function tracedRequests(begin?: BeginRequest, untraced: readonly string[] = []): TracedRequests {
  const spans = new WeakMap<object, RequestSpan>();
  return {
    childLoggerFactory(logger, bindings, options, raw) {
      const parent = readTraceParent(raw.headers.traceparent);
      const [path = ''] = (raw.url ?? '').split('?', 1);
      const span = begin === undefined || untraced.includes(path) ? undefined : begin(raw.method ?? '', parent);
      if (span !== undefined) spans.set(raw, span);
      const traceId = span?.traceId ?? parent?.traceId;
      return logger.child(traceId === undefined ? bindings : { ...bindings, traceId }, options);
    },
    addTo(app) {
      if (begin === undefined) return;
      app.addHook('onRequest', (request, _reply, done) => {
        const span = spans.get(request.raw);
        if (span === undefined) done();
        else span.during(done);
      });
      app.addHook('onResponse', (request, reply, done) => {
        spans.get(request.raw)?.ended(request.routeOptions.url, reply.statusCode);
        done();
      });
    },
  };
}
