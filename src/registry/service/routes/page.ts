// Serves the catalogue page: the HTML shell at / and its files below /page. All files are public and contain no data:
// the page requests data from the API with the reader's own token.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_HEADERS } from '#std/page/headers.ts';
import { type PageSettings, readPageAssets } from '../../page/assets.ts';
import { type SendPacked, VARY } from '../encoding.ts';
import { entityTag, namesTag } from '../etag.ts';
import { addPublicRoute } from '../route.ts';

const FOR_EVER = 'public, max-age=31536000, immutable';

export async function addPageRoutes(app: FastifyInstance, settings: PageSettings, send: SendPacked): Promise<void> {
  const { digest, shell, files } = await readPageAssets(settings);
  addPublicRoute(app, '/', (request, reply) => {
    reply.headers(PAGE_HEADERS);
    return sendFile(send, request, reply, {
      cacheControl: 'no-cache',
      type: 'text/html; charset=utf-8',
      tag: digest,
      body: () => shell,
    });
  });
  for (const { name, type, body } of files) {
    addPublicRoute(app, `/page/${digest}/${name}`, (request, reply) =>
      sendFile(send, request, reply, { cacheControl: FOR_EVER, type, tag: `${digest}/${name}`, body }),
    );
  }
}

interface Sent {
  readonly cacheControl: string;
  readonly type: string;
  /** Differs for each content of the body. */
  readonly tag: string;
  readonly body: () => string;
}

async function sendFile(
  send: SendPacked,
  request: FastifyRequest,
  reply: FastifyReply,
  { cacheControl, type, tag, body }: Sent,
): Promise<FastifyReply> {
  const etag = entityTag(tag);
  reply.header('cache-control', cacheControl).header('etag', etag);
  if (namesTag(request.headers['if-none-match'], etag)) return reply.code(304).headers(VARY).send();
  return send(request, reply.type(type), etag, Buffer.from(body()));
}
