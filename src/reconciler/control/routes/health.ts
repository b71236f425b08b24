// Serves /health (whether the process should be restarted) and /readiness (whether clients may rely on it). Neither
// needs a token.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer } from '../answer.ts';
import type { Vitals } from '../ports.ts';
import { addRoute } from '../route.ts';

export function addHealthRoutes(app: FastifyInstance, vitals: Vitals): void {
  addRoute(app, { method: 'GET', url: '/health', public: true, handler: health });
  addRoute(app, { method: 'GET', url: '/readiness', public: true, handler: readiness });

  function health(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const reason = vitals.stuck();
    if (reason === undefined) return answer(reply, { status: 'healthy' });
    request.log.error({ reason }, 'stuck');
    return answer(reply, { status: 'stuck', reasons: [reason] }, 503);
  }

  function readiness(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const reasons = vitals.unready();
    if (reasons.length === 0) return answer(reply, { status: 'ready' });
    return answer(reply, { status: 'not ready', reasons: [...reasons] }, 503);
  }
}
