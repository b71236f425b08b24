// /fleet/events: server-sent events that say that a run has begun or ended and that the fleet is in another state. They carry
// no data: a reader requests /fleet.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendRefusal } from '../answer.ts';
import type { Fleet } from '../ports.ts';
import { addRoute } from '../route.ts';

/** Each holds a connection of the listener, which has 256. */
const STREAMS_MAX = 64;
/** Proxies close connections that are silent for a minute; the socket of this listener for 30 s. */
const KEEP_ALIVE_MS = 15_000;

export function addEventsRoute(app: FastifyInstance, fleet: Fleet): void {
  const streams = new Set<() => void>();
  app.addHook('preClose', async () => {
    for (const end of streams) end();
  });
  addRoute(app, {
    method: 'GET',
    url: '/fleet/events',
    handler(_request, reply) {
      if (streams.size >= STREAMS_MAX)
        return sendRefusal(reply, 'control-streams-exhausted', 'too many consoles follow');
      const end = sendEvents(reply, fleet, () => streams.delete(end));
      streams.add(end);
      return reply;
    },
  });
}

/** The returned function ends the stream. */
function sendEvents(reply: FastifyReply, fleet: Fleet, ended: () => void): () => void {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
  raw.write(':\n\n');
  const unfollow = fleet.follow((event) => {
    // A reader that does not keep up loses nothing: each event says no more than that there is something new.
    if (!raw.writableNeedDrain) raw.write(`event: ${event}\ndata: {}\n\n`);
  });
  const alive = setInterval(() => raw.write(':\n\n'), KEEP_ALIVE_MS);
  raw.once('close', () => {
    clearInterval(alive);
    unfollow();
    ended();
  });
  return () => void raw.end();
}
