// Adds the requests of a Fastify application to the traces of their senders: the log has the id of the trace, and each
// request is a span if tracing is on.

import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { type BeginRequest, type RequestSpan, readTraceParent } from './trace.ts';

type ChildLoggerFactory = NonNullable<FastifyServerOptions['childLoggerFactory']>;

export interface TracedRequests {
  /** An option of the application. */
  readonly childLoggerFactory: ChildLoggerFactory;
  /** Must be called before any other hook is added. */
  addTo(app: FastifyInstance): void;
}

/**
 * If `begin` is absent, there are no spans, and only the log has the ids. Requests of `untraced` paths, such as health
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
