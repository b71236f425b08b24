// Chooses the content coding that a client accepts (RFC 9110 section 12.5.3), and compresses bodies.

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Bodies } from './bodies.ts';

export type Coding = 'br' | 'gzip';

const zip = promisify(gzip);
const brotli = promisify(brotliCompress);

/** A smaller body fits into one packet uncompressed. */
const PACKED_BYTES_MIN = 1024;
/** At this quality, bodies are as small as with the best gzip, in a fraction of the time. */
const BROTLI_QUALITY = 5;
/** The first of equally accepted codings is used. */
const CODINGS: readonly Coding[] = ['br', 'gzip'];

/** Returns the coding, or undefined for no compression. `acceptEncoding` is the header. Weight 0 refuses a coding. */
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

/** Returns the compressed body. Returns undefined for a body that is too small. */
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
 * Sends the body in a coding that the client accepts. `tag` identifies the content, so that it is compressed only once.
 */
export type SendPacked = (
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  body: Buffer,
) => Promise<FastifyReply>;

/**
 * Names all request headers on which responses depend. Responses without a body need this header too (RFC 9110 section
 * 15.4.5).
 */
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
