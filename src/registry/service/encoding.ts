// Chooses the form of a body that a client accepts (RFC 9110 section 12.5.3), and compresses the body. No other file
// compresses responses.

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Bodies } from './bodies.ts';

export type Coding = 'br' | 'gzip';

const zip = promisify(gzip);
const brotli = promisify(brotliCompress);

/** Smaller bodies are not compressed, because they fit into one packet anyway. */
const PACKED_BYTES_MIN = 1024;
/** Quality at which bodies are as small as with the best gzip, at a fraction of the time. */
const BROTLI_QUALITY = 5;
/** Codings of responses. If a client accepts both equally, the first is used. */
const CODINGS: readonly Coding[] = ['br', 'gzip'];

/** `acceptEncoding`: the header. Without it, nothing is compressed; a weight of zero refuses. */
export function chooseCoding(acceptEncoding: string | undefined): Coding | undefined {
  const weights = new Map((acceptEncoding ?? '').toLowerCase().split(',').map(readCoding));
  function weightOf(coding: Coding): number {
    const alias = coding === 'gzip' ? weights.get('x-gzip') : undefined;
    return weights.get(coding) ?? alias ?? weights.get('*') ?? 0;
  }
  return CODINGS.filter((coding) => weightOf(coding) > 0).toSorted((a, b) => weightOf(b) - weightOf(a))[0];
}

function readCoding(text: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = text.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length);
  return [coding, weight === undefined ? 1 : Number(weight)];
}

/** Returns the compressed body, or undefined if compression does not help. */
export async function pack(body: Buffer, coding: Coding): Promise<Buffer | undefined> {
  if (body.length < PACKED_BYTES_MIN) return undefined;
  if (coding === 'gzip') return await zip(body);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  return await brotli(body, { params });
}

/**
 * Sends the body in a form that the client accepts. `tag` identifies the content, which is compressed once and not for
 * each request.
 */
export type SendPacked = (
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  body: Buffer,
) => Promise<FastifyReply>;

/** Names the headers by which responses differ, also responses without a body (RFC 9110 section 15.4.5). */
export const VARY = { vary: 'Authorization, Accept-Encoding' };

export function packedSender(bodies: Bodies): SendPacked {
  async function packed(tag: string, plain: Buffer, coding: Coding): Promise<Buffer | undefined> {
    const name = `${tag} ${coding}`;
    const kept = bodies.get(name);
    if (kept !== undefined) return kept;
    const body = await pack(plain, coding);
    if (body !== undefined) bodies.set(name, body);
    return body;
  }

  return async (request, reply, tag, body) => {
    const coding = chooseCoding(request.headers['accept-encoding']);
    const short = coding === undefined ? undefined : await packed(tag, body, coding);
    if (coding !== undefined && short !== undefined) reply.header('content-encoding', coding);
    return reply.headers(VARY).send(short ?? body);
  };
}
