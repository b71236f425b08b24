// Sends responses that depend only on the revision of the catalogue and on the request. Entity tags avoid repeated
// transfers, and a cache avoids repeated work.

import type { FastifyRequest } from 'fastify';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { setBounded } from '#std/bounded.ts';
import type { CatalogueReader, SourceKey } from '../catalogue/ports.ts';
import { found, sendRefusal, type ValueOrError } from './answer.ts';
import type { Bodies } from './bodies.ts';
import { packedSender, VARY } from './encoding.ts';
import { entityTag, isAnyTag, namesTag } from './etag.ts';
import { sharedRevisions } from './revisions.ts';
import type { Handler } from './route.ts';

export interface ConditionalOptions {
  readonly config: RegistryConfig;
  readonly catalogue: CatalogueReader;
  /** Part of the entity tag, because another version of the service may format the same content differently. */
  readonly version: string;
  readonly bodies: Bodies;
}

/** Loads the requested data from the store. */
export type Load = (catalogue: CatalogueReader) => Promise<ValueOrError<Loaded>>;
export type Ask = (request: FastifyRequest, key: SourceKey) => ValueOrError<Load>;

interface Loaded {
  /** JSON text. */
  readonly text: string;
  /** Revision of the text. If absent, the revision is read separately. */
  readonly revision?: string;
}

/**
 * Creates handlers for routes with the parameter `registry`. A handler sends data that the client does not have yet. If
 * the store returns no revision with the data, the handler reads the revision before the data. If the data changes in
 * between, the new data gets the older tag: clients fetch it again, and old data never gets a newer tag.
 */
export function conditionalAnswers(options: ConditionalOptions): (ask: Ask, dated?: 'dated') => Handler {
  const { config, catalogue, version, bodies } = options;
  const revision = sharedRevisions(catalogue);
  const send = packedSender(bodies);
  const cacheControl = config.auth.mode === 'anonymous' ? 'public, no-cache' : 'private, no-cache';
  /** Last known revision of each source. */
  const met = new Map<string, string>();

  /** `dated` means that the loaded data contains its revision. */
  return (ask, dated) => {
    const readQuestion = lately((request) => {
      const key = registryKey(config, request);
      if (!key.ok) return key;
      const load = ask(request, key.value);
      return load.ok ? found({ key: key.value, load: load.value }) : load;
    });

    /**
     * Returns whether to load the data before its revision is known, so that one query returns data and revision.
     * `tag` is the tag of the last known revision.
     */
    function isNew(request: FastifyRequest, tag: string | undefined): boolean {
      const named = request.headers['if-none-match'];
      // Only the store knows whether content for `*` exists.
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
interface SourceQuery {
  readonly key: SourceKey;
  readonly load: Load;
}

/** Limits of the cache of parsed targets: their number, and the length of a target. */
const QUESTIONS_MAX = 200;
const TARGET_LENGTH_MAX = 512;

/** Caches valid questions by the request target: a question depends only on the target. */
function lately(
  read: (request: FastifyRequest) => ValueOrError<SourceQuery>,
): (request: FastifyRequest) => ValueOrError<SourceQuery> {
  const known = new Map<string, SourceQuery>();
  return (request) => {
    const kept = known.get(request.url);
    if (kept !== undefined) return found(kept);
    const question = read(request);
    if (question.ok && request.url.length <= TARGET_LENGTH_MAX)
      setBounded(known, request.url, question.value, QUESTIONS_MAX);
    return question;
  };
}

/** Returns the source that the request's `registry` names. */
export function registryKey(config: RegistryConfig, request: FastifyRequest): ValueOrError<SourceKey> {
  const { registry: name } = request.params as { readonly registry?: string };
  const known = config.registries.find((registry) => registry.name === name);
  if (known === undefined) {
    return { ok: false, refused: { code: 'registry-not-found', message: 'registry not found' } };
  }
  return found({ namespace: config.namespace, registry: config.registryName, source: known.name });
}

async function plainBody(
  bodies: Bodies,
  tag: string,
  load: () => Promise<ValueOrError<Loaded>>,
): Promise<ValueOrError<Buffer>> {
  const kept = bodies.get(tag);
  if (kept !== undefined) return found(kept);
  const loaded = await load();
  if (!loaded.ok) return loaded;
  const body = Buffer.from(loaded.value.text);
  bodies.set(tag, body);
  return found(body);
}
