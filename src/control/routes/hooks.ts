// /hooks/git: a Git server tells of a push, and where a source follows it a run begins. By signature instead of token:
// whoever sends one may start a run sooner, and nothing else.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../std/failure.ts';
import { createRateLimit } from '../../std/rate.ts';
import { answer, refuse } from '../answer.ts';
import { type HookEvent, readEvent } from '../hooks/event.ts';
import { type FollowedSource, sourcesMovedBy } from '../hooks/followed.ts';
import { checkSignature, type Provider } from '../hooks/signature.ts';
import type { Secrets, Trigger } from '../ports.ts';
import { addRoute } from '../route.ts';

export interface HookSubject {
  /** Absent: nobody can send any. */
  readonly secrets?: Secrets;
  readonly sources: readonly FollowedSource[];
  readonly trigger: Trigger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Told what became of each. */
  readonly counted: (provider: string, outcome: string) => void;
}

/** Git servers send whole lists of commits; what is larger waits for the schedule. */
const BODY_BYTES_MAX = 5 * 1024 * 1024;
const PER_MINUTE = 60;

export function addHookRoutes(app: FastifyInstance, subject: HookSubject): void {
  const waitOf = createRateLimit(PER_MINUTE, subject.monotonic);
  addRoute(app, {
    method: 'POST',
    url: '/hooks/git',
    public: true,
    bodyLimit: BODY_BYTES_MAX,
    // Before the body is read: that is what costs.
    onRequest: async (request, reply) => {
      const seconds = waitOf(request.ip);
      if (seconds === undefined) return;
      subject.counted('unknown', 'rate-limited');
      return refuse(reply.header('retry-after', seconds), 'control-hook-rate-limited', 'too many webhooks');
    },
    handler: (request, reply) => receive(subject, request, reply),
  });
}

async function receive(subject: HookSubject, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { counted } = subject;
  const { secrets } = subject;
  if (secrets === undefined)
    return refuse(reply, 'control-hook-closed', 'http.webhookSecretFile is not set in skep.yaml');
  const known = await knownSecrets(secrets, request);
  if (known === undefined) return refuse(reply, 'control-token-unreadable', 'http.webhookSecretFile cannot be read');
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const signed = checkSignature({ headers: request.headers, body }, known, subject.now());
  if (signed === undefined) {
    counted('unknown', 'unsigned');
    return refuse(reply, 'control-hook-unsigned', 'the webhook has no signature: give it a secret');
  }
  const { provider, genuine } = signed;
  if (!genuine) {
    counted(provider, 'forged');
    request.log.warn(
      { code: 'control-hook-forged', provider, remoteAddress: request.ip },
      'webhook with a wrong signature',
    );
    return refuse(reply, 'control-hook-forged', 'the signature is not by a secret of http.webhookSecretFile');
  }
  const event = readEvent(request.headers, body);
  if (event === undefined) return refuse(reply, 'control-hook-unreadable', 'the body is no JSON object');
  return act(subject, event, provider, request, reply);
}

function act(
  { sources, trigger, counted }: HookSubject,
  event: HookEvent,
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (event.type === 'ping') {
    counted(provider, 'ping');
    return answer(reply, { status: 'pong' });
  }
  const moved = event.type === 'push' ? sourcesMovedBy(event, sources) : [];
  if (moved.length === 0) {
    counted(provider, 'ignored');
    const reason = event.type === 'push' ? 'no source follows this repository and ref' : 'this event is no push';
    return answer(reply, { status: 'ignored', reason }, 202);
  }
  counted(provider, 'accepted');
  const fresh = trigger('webhook');
  request.log.info({ provider, sources: moved, queued: fresh }, 'webhook: a push to a source');
  return answer(reply, { status: fresh ? 'queued' : 'already queued', sources: moved }, 202);
}

async function knownSecrets(secrets: Secrets, request: FastifyRequest): Promise<readonly string[] | undefined> {
  try {
    return await secrets.values();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    request.log.error({ code: 'control-token-unreadable', reason: error.message }, 'no webhook can be checked');
    return undefined;
  }
}
