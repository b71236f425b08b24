// Runs request handlers that throw in various ways, behind the proxy's listener and behind Fastify as in the registry
// and the reconciler. Prints the origins of both.

import Fastify from 'fastify';
import { listenHttp } from '#gateway/proxy/listener.ts';
import { keepServing } from '#hosts/keep-serving.ts';
import { handleError } from '#reconciler/control/answer.ts';
import { guardRequests } from '#std/requests/guarded-app.ts';

keepServing();

function fail(): never {
  throw new Error('a mistake of ours');
}

const WAYS: Readonly<Record<string, (begin: () => void) => void>> = {
  '/timer': () => void setTimeout(fail, 1),
  '/tick': () => process.nextTick(fail),
  '/microtask': () => queueMicrotask(fail),
  '/rejected': () => void Promise.reject(new Error('a mistake of ours')),
  '/late': (begin) => {
    begin();
    setTimeout(fail, 1);
  },
};

const plain = await listenHttp(
  { host: '127.0.0.1', port: 0 },
  (request, response) => {
    const path = request.url ?? '';
    if (path === '/sync') fail();
    if (path === '/ok') return void response.end('ok');
    if (path === '/data') return void request.on('data', fail);
    if (path === '/end') return void request.resume().on('end', fail);
    request.resume();
    WAYS[path]?.(() => response.write('begun'));
  },
  (error) => process.stderr.write(`broken: ${error instanceof Error ? error.message : ''}\n`),
);

const app = Fastify();
app.setErrorHandler(handleError);
guardRequests(app, handleError);
app.get('/ok', async () => 'ok');
app.get('/sync', fail);
for (const [path, begin] of Object.entries(WAYS)) {
  app.get(path, (_request, reply) => {
    begin(() => {
      reply.hijack();
      reply.raw.write('begun');
    });
  });
}
const framed = await app.listen({ host: '127.0.0.1', port: 0 });

// Throws an exception outside of any request, which ends the process.
process.on('SIGUSR2', () => setTimeout(fail, 0));
process.stdout.write(`${JSON.stringify({ plain: plain.url, framed })}\n`);
