// Serves /fleet/events: server-sent events that report the begin and end of runs and changes of the fleet's state. They
// carry no data: a reader then requests /fleet.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendRefusal } from '../answer.ts';
import type { Fleet } from '../ports.ts';
import { addRoute } from '../route.ts';

/** Maximum number of streams: each holds one of the listener's 256 connections. */
const STREAMS_MAX = 64;
/**
 * Interval of keep-alive comments. Proxies close connections that are silent for a minute, this listener after 30 s.
 */
const KEEP_ALIVE_MS = 15_000;

const EVENT_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export function addEventsRoute(app: FastifyInstance, fleet: Fleet): void {
  const streams = new Set<() => void>();
  app.addHook('preClose', async () => {
    for (const end of streams) end();
  });
  addRoute(app, {
    method: 'GET',
    url: '/fleet/events',
    handler(request, reply) {
      // The response to HEAD has no body that could end later.
      if (request.method === 'HEAD') return reply.headers(EVENT_HEADERS).send();
      if (streams.size >= STREAMS_MAX)
        return sendRefusal(reply, 'control-streams-exhausted', 'too many consoles follow');
      const end = sendEvents(reply, fleet, () => streams.delete(end), request.caller?.holds);
      streams.add(end);
      return reply;
    },
  });
}

/** Sends events until the returned function is called, or until the login of the reader has ended. */
function sendEvents(reply: FastifyReply, fleet: Fleet, ended: () => void, holds = () => true): () => void {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, EVENT_HEADERS);
  raw.write(':\n\n');
  const unfollow = fleet.follow((event) => {
    // A slow reader loses no data: each event only says that there is something new.
    if (!holds()) raw.end();
    else if (!raw.writableNeedDrain) raw.write(`event: ${event}\ndata: {}\n\n`);
  });
  const alive = setInterval(() => void (holds() ? raw.write(':\n\n') : raw.end()), KEEP_ALIVE_MS);
  raw.once('close', () => {
    clearInterval(alive);
    unfollow();
    ended();
  });
  return () => void raw.end();
}
