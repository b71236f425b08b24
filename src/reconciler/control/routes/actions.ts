// Serves /fleet/waiting (what waits for a person), /fleet/session (who the caller is) and POST /fleet/actions/NAME (the
// actions of operators). An action that changes what a person should see first needs a confirmation of exactly that.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { concernRefusal, type Refusal, roleRefusal } from '../actions/permission.ts';
import { answer, sendRefusal } from '../answer.ts';
import { jsonBody } from '../body.ts';
import { ACTION_NAMES, type ActionName, type Actions, type Caller, type PreparedAction } from '../ports.ts';
import { addRoute } from '../route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** A preview plans a whole run, and reads Git for it. */
const ACTION_TIMEOUT_MS = 120_000;

/** `actions` is absent if nothing can be changed here. */
export function addActionRoutes(app: FastifyInstance, actions: Actions | undefined): void {
  addRoute(app, {
    method: 'GET',
    url: '/fleet/session',
    handler: (request, reply) => answer(reply, sessionOf(request.caller, actions !== undefined)),
  });
  if (actions === undefined) return;
  addRoute(app, {
    method: 'GET',
    url: '/fleet/waiting',
    handler(request, reply) {
      const { text, tag } = actions.waiting();
      reply.headers({ 'cache-control': 'no-cache', etag: `"${tag}"` });
      if (request.headers['if-none-match'] === `"${tag}"`) return reply.code(304).send();
      return reply.type(JSON_TYPE).send(text);
    },
  });
  for (const name of ACTION_NAMES)
    addRoute(app, {
      method: 'POST',
      url: `/fleet/actions/${name}`,
      timeoutMs: ACTION_TIMEOUT_MS,
      // Refused before the body is read.
      onRequest: async (request, reply) => {
        const refusal = roleRefusal(request.caller);
        return refusal && recordRefusal(actions, { name, request, reply, about: '' }, refusal);
      },
      handler: (request, reply) => act(actions, name, request, reply),
    });
}

/** Records a request for an action, or for a logout, that was refused before its route got it. */
export function auditRefused(
  actions: Actions | undefined,
  { routeOptions: { url = '' } }: FastifyRequest,
  { by, code }: { readonly by: string; readonly code: string },
): void {
  const action = url === '/logout' ? 'logout' : ACTION_NAMES.find((name) => url === `/fleet/actions/${name}`);
  if (action !== undefined) actions?.audit({ action, by, about: '', result: 'refused', code });
}

function sessionOf(caller: Caller | undefined, canAct: boolean): JsonObject {
  if (caller === undefined) return { role: 'viewer', acts: false };
  const { name, role, namespaces, means, csrf } = caller;
  const limited = namespaces === undefined ? {} : { namespaces: [...namespaces] };
  return { name, role, means, acts: canAct && role === 'operator', ...limited, ...(csrf && { csrf }) };
}

interface Attempt {
  readonly name: ActionName;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly about: string;
}

async function act(
  actions: Actions,
  name: ActionName,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const attempt = { name, request, reply, about: '' };
  request.raw.socket.setTimeout(ACTION_TIMEOUT_MS);
  const body = jsonBody(request);
  if (body === undefined)
    return sendRefusal(
      reply,
      'control-request-invalid',
      'the body must be a JSON object, with the type application/json',
    );
  const { preview = false, confirmed, ...input } = body;
  // Any other value would act although its sender may have meant a preview.
  if (typeof preview !== 'boolean')
    return sendRefusal(reply, 'control-request-invalid', 'preview must be true or false');
  try {
    return await actions.prepare(name, input, (prepared) =>
      carryOut(actions, { ...attempt, about: prepared.about }, prepared, { preview, confirmed }),
    );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'action-arguments')
      return sendRefusal(reply, 'control-request-invalid', failureRefusal(error).message);
    return recordRefusal(actions, attempt, failureRefusal(error), error.code);
  }
}

function failureRefusal({ code, message }: Failure): Refusal {
  return { code: 'control-action-refused', message: `${message} [${code}]` };
}

interface Confirmation {
  readonly preview: boolean;
  readonly confirmed: unknown;
}

async function carryOut(
  actions: Actions,
  attempt: Attempt,
  prepared: PreparedAction,
  { preview, confirmed }: Confirmation,
): Promise<FastifyReply> {
  const { name, request, reply, about } = attempt;
  const { caller } = request;
  const refusal =
    caller === undefined
      ? roleRefusal(caller)
      : (roleRefusal(caller) ?? lateRefusal(reply, caller) ?? concernRefusal(caller, prepared));
  if (refusal !== undefined || caller === undefined) return recordRefusal(actions, attempt, refusal ?? UNKNOWN_CALLER);
  const { shown } = prepared;
  const hash = shown === undefined ? undefined : digest([name, shown]);
  if (preview) return answer(reply, { action: name, digest: hash, ...shown });
  if (shown !== undefined && confirmed === undefined)
    return sendRefusal(reply, 'control-confirmation-missing', 'ask for a preview, and confirm its digest');
  if (confirmed !== hash)
    return recordRefusal(actions, attempt, { code: 'control-confirmation-changed', message: CHANGED });
  try {
    const result = await prepared.carryOut(caller.name);
    actions.audit({ action: name, by: caller.name, about, result: 'done' });
    // After the record, which names the run that follows.
    actions.runNow();
    return answer(reply, { action: name, status: 'queued', ...result });
  } catch (error) {
    const cause = error instanceof Failure ? error.code : 'control-failed';
    actions.audit({ action: name, by: caller.name, about, result: 'failed', code: cause });
    if (!(error instanceof Failure)) throw error;
    const { code, message } = failureRefusal(error);
    return sendRefusal(reply, code, message);
  }
}

const CHANGED = 'the action would now do something else than you have confirmed: look again';
/** Returns why an action that has waited for its turn is not carried out any more. */
function lateRefusal({ sent, raw }: FastifyReply, { holds }: Caller): Refusal | undefined {
  if (holds?.() === false) return { code: 'control-unauthorized', message: 'the login has ended meanwhile' };
  // The client got an error, or none: it must not find out later that the action was carried out.
  const isOver = sent || raw.destroyed;
  return isOver ? { code: 'control-action-refused', message: 'the request ended before its turn' } : undefined;
}

const UNKNOWN_CALLER: Refusal = { code: 'control-not-operator', message: 'the caller is unknown' };

function recordRefusal(
  actions: Actions,
  { name, request, reply, about }: Attempt,
  { code, message }: Refusal,
  cause: string = code,
): FastifyReply {
  actions.audit({ action: name, by: request.caller?.name ?? 'unknown', about, result: 'refused', code: cause });
  return sendRefusal(reply, code, message);
}
