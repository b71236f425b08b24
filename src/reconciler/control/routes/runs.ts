// Serves /runs: the last runs as JSON for clients with the token, and for people a page that asks for the token. The
// page contains no data.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#std/failure.ts';
import { PAGE_HEADERS } from '#std/page/headers.ts';
import { type CommandOf, INSTALLED } from '#std/words/command-of.ts';
import type { TokenCheck } from '../access.ts';
import { sendRefusal } from '../answer.ts';
import { readRunsPage } from '../page/assets.ts';
import type { Runs } from '../ports.ts';
import { addRoute } from '../route.ts';

/** Files are read on first use: many reconcilers never show their page. */
export function addRunsRoutes(
  app: FastifyInstance,
  runs: Runs,
  check: TokenCheck,
  commandOf: CommandOf = INSTALLED,
): void {
  let page: ReturnType<typeof readRunsPage> | undefined;
  const opened = () => {
    page ??= readRunsPage(commandOf);
    return page;
  };

  addRoute(app, {
    method: 'GET',
    url: '/runs',
    public: true,
    async handler(request, reply) {
      reply.header('vary', 'accept');
      if (!wantsPage(request)) {
        await check(request, reply);
        return reply.sent ? reply : sendText(reply, () => runs.list());
      }
      const { shell } = await opened();
      reply.headers(PAGE_HEADERS);
      return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(shell);
    },
  });
  addRoute(app, {
    method: 'GET',
    url: '/runs/:id',
    handler: (request, reply) => sendText(reply, () => runs.find(paramOf(request, 'id'))),
  });
  addRoute(app, {
    method: 'GET',
    url: '/runs/page/:file',
    public: true,
    async handler(request, reply) {
      const { files } = await opened();
      const file = files.find(({ name }) => name === paramOf(request, 'file'));
      if (file === undefined) return sendRefusal(reply, 'control-route-not-found', 'not found');
      return reply.header('cache-control', 'no-cache').type(file.type).send(file.body());
    },
  });
}

/** Browsers request HTML if a person opens an address; programs do not. */
function wantsPage({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').includes('text/html');
}

function paramOf({ params }: FastifyRequest, name: string): string {
  return (params as Readonly<Record<string, string>>)[name] ?? '';
}

async function sendText(reply: FastifyReply, json: () => Promise<string>): Promise<FastifyReply> {
  try {
    const text = await json();
    return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'run-not-found') return sendRefusal(reply, 'control-run-not-found', 'there is no such run');
    reply.request.log.error({ code: 'control-history-unreadable', reason: error.message }, 'no run can be shown');
    return sendRefusal(reply, 'control-history-unreadable', 'the history cannot be read');
  }
}
