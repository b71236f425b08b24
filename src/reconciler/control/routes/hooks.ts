// Serves /hooks/git: a Git server reports a push, and if a source follows the pushed ref, a run begins. A signature
// replaces the token: its sender can only start a run sooner.

import assert from 'node:assert/strict';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#std/failure.ts';
import { createRateLimit } from '#std/rate.ts';
import { answer, sendRefusal } from '../answer.ts';
import { type HookEvent, readEvent } from '../hooks/event.ts';
import { type FollowedSource, sourcesMovedBy } from '../hooks/followed.ts';
import { checkSignature, claimsSignature, type Provider } from '../hooks/signature.ts';
import type { Secrets, Trigger } from '../ports.ts';
import { addRoute } from '../route.ts';

export interface HookSubject {
  /** If absent, no webhooks are accepted. */
  readonly secrets?: Secrets;
  readonly sources: readonly FollowedSource[];
  readonly trigger: Trigger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Receives the outcome of each webhook. */
  readonly counted: (provider: string, outcome: string) => void;
}

/** Maximum bytes of a body. Git servers send whole lists of commits; a larger push waits for the schedule. */
const BODY_BYTES_MAX = 5 * 1024 * 1024;
/**
 * Bytes of a small body, for which no limit of concurrent bodies applies. Nearly all webhooks are small, so a sender of
 * large bodies cannot keep them out.
 */
const SMALL_BYTES = 64 * 1024;
/**
 * Maximum number of large bodies at once. The signature can be checked only when the whole body has arrived: until then
 * an unknown sender occupies memory.
 */
const LARGE_AT_ONCE = 4;
/** Maximum number of log lines per address and minute. The metrics count all webhooks. */
const LOGGED_PER_MINUTE = 10;

export function addHookRoutes(app: FastifyInstance, subject: HookSubject): void {
  const waitOf = createRateLimit(LOGGED_PER_MINUTE, subject.monotonic);
  let large = 0;

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    if (subject.secrets === undefined)
      return sendRefusal(reply, 'control-hook-closed', 'http.webhookSecretFile is not set in skep.yaml');
    if (!claimsSignature(request.headers)) {
      subject.counted('unknown', 'unsigned');
      return sendRefusal(reply, 'control-hook-unsigned', 'the webhook has no signature: give it a secret');
    }
    if (isSmall(request)) return undefined;
    if (large >= LARGE_AT_ONCE) {
      subject.counted('unknown', 'rate-limited');
      return sendRefusal(
        reply.header('retry-after', 10),
        'control-hook-rate-limited',
        'too many large webhooks at once',
      );
    }
    large++;
    reply.raw.once('close', () => {
      large--;
    });
    return undefined;
  }

  addRoute(app, {
    method: 'POST',
    url: '/hooks/git',
    public: true,
    bodyLimit: BODY_BYTES_MAX,
    onRequest: admit,
    handler: (request, reply) => receive(subject, request, reply, () => waitOf(request.ip) === undefined),
  });
}

/** Returns true if the body is known to be small: a body without a length may have any length. */
function isSmall({ headers }: FastifyRequest): boolean {
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES;
}

async function receive(
  subject: HookSubject,
  request: FastifyRequest,
  reply: FastifyReply,
  mayLog: () => boolean,
): Promise<FastifyReply> {
  const { counted, secrets } = subject;
  assert(secrets !== undefined, 'without secrets no webhook is admitted');
  const known = await knownSecrets(secrets, request);
  if (known === undefined)
    return sendRefusal(reply, 'control-token-unreadable', 'http.webhookSecretFile cannot be read');
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const signed = checkSignature({ headers: request.headers, body }, known, subject.now());
  assert(signed !== undefined, 'without a signature no webhook is admitted');
  const { provider, genuine } = signed;
  if (!genuine) {
    counted(provider, 'forged');
    const facts = { code: 'control-hook-forged', provider, remoteAddress: request.ip };
    if (mayLog()) request.log.warn(facts, 'webhook with a wrong signature');
    return sendRefusal(reply, 'control-hook-forged', 'the signature is not by a secret of http.webhookSecretFile');
  }
  const event = readEvent(request.headers, body);
  if (event === undefined) return sendRefusal(reply, 'control-hook-unreadable', 'the body is not a JSON object');
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
    const reason = event.type === 'push' ? 'no source follows this repository and ref' : 'this event is not a push';
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
