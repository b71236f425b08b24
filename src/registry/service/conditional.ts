// Answers that follow from the catalogue's revision and the request alone: sent with an entity tag, not sent again to those
// who name it, made once per content and form.

import type { FastifyRequest } from 'fastify';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { setBounded } from '#std/bounded.ts';
import type { CatalogueReader, SourceKey } from '../catalogue/ports.ts';
import { found, type Read, sendRefusal } from './answer.ts';
import type { Bodies } from './bodies.ts';
import { packedSender, VARY } from './encoding.ts';
import { entityTag, isAnyTag, namesTag } from './etag.ts';
import { sharedRevisions } from './revisions.ts';
import type { Handler } from './route.ts';

export interface ConditionalOptions {
  readonly config: RegistryConfig;
  readonly catalogue: CatalogueReader;
  /** Of the service: another one may word the same content differently. */
  readonly version: string;
  readonly bodies: Bodies;
}

/** What a valid request asks of the store. */
export type Load = (catalogue: CatalogueReader) => Promise<Read<Loaded>>;
export type Ask = (request: FastifyRequest, key: SourceKey) => Read<Load>;

interface Loaded {
  /** JSON. */
  readonly text: string;
  /** That it is of, where the store says so with the content: then it need not be asked for before. */
  readonly revision?: string;
}

/**
 * Makes handlers for routes with a parameter `registry`. Each sends what is asked for, unless the client has it already.
 * Where the store does not say which revision the content is of, the revision is read first: content that changes in
 * between is sent under the older tag, and so asked for again; and no replica sends an older page to a client that names
 * the tag of a newer one.
 */
export function conditionalAnswers(options: ConditionalOptions): (ask: Ask, dated?: 'dated') => Handler {
  const { config, catalogue, version, bodies } = options;
  const revision = sharedRevisions(catalogue);
  const send = packedSender(bodies);
  const cacheControl = config.auth.mode === 'anonymous' ? 'public, no-cache' : 'private, no-cache';
  /** The revision of each source that was met last. */
  const met = new Map<string, string>();

  /** `dated`: what it asks for says which revision it is of. */
  return (ask, dated) => {
    const readQuestion = lately((request) => {
      const key = registryKey(config, request);
      if (!key.ok) return key;
      const load = ask(request, key.value);
      return load.ok ? found({ key: key.value, load: load.value }) : load;
    });

    /** Whether only the store can have it: one question is enough then. `tag`: of the revision that was met last. */
    function isNew(request: FastifyRequest, tag: string | undefined): boolean {
      const named = request.headers['if-none-match'];
      // It asks whether there is anything, which only the store can tell.
      if (isAnyTag(named)) return true;
      if (dated === undefined || named !== undefined) return false;
      return tag === undefined || bodies.get(tag) === undefined;
    }

    return async function answer(request, reply) {
      const question = readQuestion(request);
      if (!question.ok) return sendRefusal(reply, question.refused);
      const { key, load } = question.value;
      const last = met.get(key.source);
      const lastTag = last === undefined ? undefined : entityTag(version, last, request.url);
      const loaded = isNew(request, lastTag) ? await load(catalogue) : undefined;
      if (loaded?.ok === false) return sendRefusal(reply, loaded.refused);
      const now = loaded?.value.revision ?? (await revision(key));
      met.set(key.source, now);
      const tag = lastTag !== undefined && now === last ? lastTag : entityTag(version, now, request.url);
      const headers = { 'cache-control': cacheControl, etag: tag };
      if (namesTag(request.headers['if-none-match'], tag))
        return reply
          .code(304)
          .headers({ ...headers, ...VARY })
          .send();
      const body = await plainBody(bodies, tag, async () => loaded ?? (await load(catalogue)));
      if (!body.ok) return sendRefusal(reply, body.refused);
      reply.headers(headers).type('application/json; charset=utf-8');
      return send(request, reply, tag, body.value);
    };
  };
}

/** A valid request. */
interface Question {
  readonly key: SourceKey;
  readonly load: Load;
}

/** Of how many targets that were asked for last the reading is kept, and how long each may be. */
const QUESTIONS_MAX = 200;
const TARGET_LENGTH_MAX = 512;

/** What a request asks for follows from its target: the same target is not read again and again. */
function lately(read: (request: FastifyRequest) => Read<Question>): (request: FastifyRequest) => Read<Question> {
  const known = new Map<string, Question>();
  return (request) => {
    const kept = known.get(request.url);
    if (kept !== undefined) return found(kept);
    const question = read(request);
    if (question.ok && request.url.length <= TARGET_LENGTH_MAX)
      setBounded(known, request.url, question.value, QUESTIONS_MAX);
    return question;
  };
}

/** The registry that the request names. */
export function registryKey(config: RegistryConfig, request: FastifyRequest): Read<SourceKey> {
  const { registry: name } = request.params as { readonly registry?: string };
  const known = config.registries.find((registry) => registry.name === name);
  if (known === undefined) {
    return { ok: false, refused: { code: 'registry-not-found', message: 'registry not found' } };
  }
  return found({ namespace: config.namespace, registry: config.registryName, source: known.name });
}

async function plainBody(bodies: Bodies, tag: string, load: () => Promise<Read<Loaded>>): Promise<Read<Buffer>> {
  const kept = bodies.get(tag);
  if (kept !== undefined) return found(kept);
  const loaded = await load();
  if (!loaded.ok) return loaded;
  const body = Buffer.from(loaded.value.text);
  bodies.set(tag, body);
  return found(body);
}
