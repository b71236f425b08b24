// Serves the console at /, and at every address of data that a browser opens. The page contains no data.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_HEADERS } from '#std/page/headers.ts';
import { sendRefusal } from '../answer.ts';
import { type ConsoleWords, readConsole } from '../page/assets.ts';
import { addRoute } from '../route.ts';

/** Sends the page. */
export type SendConsole = (reply: FastifyReply) => Promise<FastifyReply>;

/** Adds the routes. The files are read when the page is first requested: a reconciler may never show its console. */
export function addConsoleRoutes(app: FastifyInstance, words: ConsoleWords): SendConsole {
  let page: ReturnType<typeof readConsole> | undefined;
  const opened = () => {
    page ??= readConsole(words);
    return page;
  };
  const sendConsole: SendConsole = async (reply) => {
    const { shell } = await opened();
    reply.headers(PAGE_HEADERS);
    return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(shell);
  };

  addRoute(app, { method: 'GET', url: '/', public: true, handler: (_request, reply) => sendConsole(reply) });
  addRoute(app, {
    method: 'GET',
    url: '/console/*',
    public: true,
    async handler(request, reply) {
      const { files } = await opened();
      const { '*': requested } = request.params as Readonly<Record<string, string>>;
      const file = files.find(({ name }) => name === requested);
      if (file === undefined) return sendRefusal(reply, 'control-route-not-found', 'not found');
      return reply.header('cache-control', 'no-cache').type(file.type).send(file.body());
    },
  });
  return sendConsole;
}

/** Returns true for requests by a browser: browsers accept HTML explicitly, programs do not. */
export function isOfBrowser({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').includes('text/html');
}
