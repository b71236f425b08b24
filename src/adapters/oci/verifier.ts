// Caches verified images by digest, because the content of a digest never changes. Tags are resolved again after some
// time. Failures are cached for a short time.

import type { ImageFacts, ImageRequest, ImageVerifier, KnownFacts } from '#reconciler/run/images/ports.ts';
import { type ImageName, parseImageName } from '#std/address/image-name.ts';
import { setBounded } from '#std/bounded.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type Json, parseJson } from '#std/json.ts';
import { credentialsFor } from './credentials.ts';
import { findSignatures } from './inspect.ts';
import { type Manifest, openRepository, type RegistryOptions, type Repository } from './registry.ts';
import { readTrust, type Trust } from './sigstore.ts';

export interface VerifierOptions extends RegistryOptions {
  /** Returns the trusted root as JSON. Throws Failure. */
  readonly root: () => Promise<string>;
  /** Returns the content of a file with public keys. Throws Failure. */
  readonly readKeys: (file: string) => Promise<string>;
  /** Returns the content of a pull secret. undefined if the Secret does not exist. Throws Failure. */
  readonly pullSecret: (namespace: string, name: string) => Promise<string | undefined>;
  /** Milliseconds after which a tag is resolved again. */
  readonly refreshMs: number;
  /** Text that `save` returned in an earlier process. */
  readonly stored?: string | undefined;
}

export interface KeepingVerifier extends ImageVerifier {
  /** Returns all verified images for a later process. undefined if no image was verified since the last call. */
  save(): string | undefined;
}

interface Tag {
  readonly digest: string;
  readonly at: number;
}

interface VerifierCache {
  /** Digests by namespace and image, because namespaces have different credentials. */
  readonly tags: Map<string, Tag>;
  /** Facts that were sufficient for a verification, by digest and trust. */
  readonly verified: Map<string, KnownFacts>;
  /** Other facts, which are cached for a short time. */
  readonly recent: Map<string, { readonly facts: ImageFacts; readonly until: number }>;
  /** Registries that receive no requests for some time, with the reason. */
  readonly silent: Map<string, { readonly until: number; readonly reason: string }>;
  /** Parsed trust by the texts of root and key files. */
  readonly trusts: Map<string, Trust>;
  hasNews: boolean;
}

const KEPT_MAX = 2000;
const TRUSTS_MAX = 32;
const RECENT_MS = 60_000;
/** Default pause in milliseconds for a registry that does not respond or limits requests. */
const SILENT_MS = 30_000;
const SILENT_MAX_MS = 3_600_000;

export function openVerifier(options: VerifierOptions): KeepingVerifier {
  const state = parseState(options.stored);
  return {
    inspect: (request) => inspectOne(options, state, request),
    save() {
      if (!state.hasNews) return undefined;
      state.hasNews = false;
      return JSON.stringify({ version: 1, tags: [...state.tags], verified: [...state.verified] });
    },
  };
}

interface ImageVerification {
  readonly options: VerifierOptions;
  readonly state: VerifierCache;
  readonly request: ImageRequest;
  readonly name: ImageName;
  readonly key: string;
  readonly trust: Trust;
}

async function inspectOne(options: VerifierOptions, state: VerifierCache, request: ImageRequest): Promise<ImageFacts> {
  const name = parseImageName(request.image);
  if (name === undefined) return { state: 'unknown', reason: 'its name is not one of an image' };
  const key = `${request.namespace} ${request.image}`;
  try {
    const trust = await trustOf(options, state, request.keyFiles);
    const asked: ImageVerification = { options, state, request, name, key, trust };
    const kept = keptFacts(asked);
    if (kept === undefined || !request.isEnough(kept.facts)) return await askRegistry(asked);
    return kept.isFresh ? kept.facts : await askAgain(asked, kept.facts);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { state: 'unknown', reason: error.message };
  }
}

/** Resolves the tag again. If the registry does not respond, returns the previous facts. */
async function askAgain(asked: ImageVerification, before: KnownFacts): Promise<ImageFacts> {
  const now = await askRegistry(asked);
  return now.state === 'unknown' ? before : now;
}

async function trustOf(
  { root, readKeys }: VerifierOptions,
  { trusts }: VerifierCache,
  keyFiles: readonly string[],
): Promise<Trust> {
  const keys = await Promise.all(keyFiles.map(async (file) => [file, await readKeys(file)] as const));
  const text = await root();
  const key = JSON.stringify([text, keys]);
  const trust = trusts.get(key) ?? readTrust(text, keys);
  setBounded(trusts, key, trust, TRUSTS_MAX);
  return trust;
}

function keptFacts({ options: { now, refreshMs }, state, key, name: { digest }, trust }: ImageVerification) {
  const tag = digest === undefined ? state.tags.get(key) : { digest, at: now() };
  const facts = tag && state.verified.get(`${tag.digest} ${trust.id}`);
  if (tag === undefined || facts === undefined) return undefined;
  const age = now() - tag.at;
  return { facts, isFresh: age >= 0 && age < refreshMs };
}

async function askRegistry(asked: ImageVerification): Promise<ImageFacts> {
  const { options, state, request, name, key, trust } = asked;
  const { now } = options;
  const recentKey = `${key} ${trust.id} ${request.pullSecrets.join(' ')}`;
  const recent = state.recent.get(recentKey);
  if (recent !== undefined && recent.until > now() && !isEnough(request, recent.facts)) return recent.facts;
  const silent = state.silent.get(name.registry);
  if (silent !== undefined && silent.until > now()) return { state: 'unknown', reason: silent.reason };
  const facts = await readFacts(asked).catch((error: unknown): ImageFacts => {
    if (!(error instanceof Failure)) throw error;
    noteSilence(options, state, name, error);
    return { state: 'unknown', reason: error.message };
  });
  if (!isEnough(request, facts)) setBounded(state.recent, recentKey, { facts, until: now() + RECENT_MS }, KEPT_MAX);
  return facts;
}

function isEnough(request: ImageRequest, facts: ImageFacts): boolean {
  return facts.state === 'known' && request.isEnough(facts);
}

async function readFacts({ options, state, request, name, key, trust }: ImageVerification): Promise<KnownFacts> {
  const repository = await repositoryOf(options, request, name);
  const reference = name.digest ?? name.tag ?? '';
  const image: Manifest | undefined = await repository.manifest(reference);
  if (image === undefined) {
    const message = `the registry ${name.registry} has no ${name.repository} ${reference}`;
    throw new Failure('image-registry', message);
  }
  const verifiedKey = `${image.digest} ${trust.id}`;
  const kept = state.verified.get(verifiedKey);
  const facts =
    kept !== undefined && request.isEnough(kept)
      ? kept
      : await findSignatures(repository, image, trust, request.isEnough);
  if (!request.isEnough(facts)) return facts;
  setBounded(state.verified, verifiedKey, facts, KEPT_MAX);
  // Only a sufficiently verified digest is cached for the tag. Until then, the previous digest is used.
  if (name.digest === undefined) setBounded(state.tags, key, { digest: image.digest, at: options.now() }, KEPT_MAX);
  state.hasNews = true;
  return facts;
}

async function repositoryOf(options: VerifierOptions, request: ImageRequest, name: ImageName): Promise<Repository> {
  const configurations = await Promise.all(
    request.pullSecrets.map((secret) => options.pullSecret(request.namespace, secret)),
  );
  return openRepository(
    options,
    name,
    credentialsFor(
      configurations.filter((text) => text !== undefined),
      name,
    ),
  );
}

/** Pauses the requests for all images of a registry that is down or limits requests. */
function noteSilence(
  { now }: VerifierOptions,
  { silent }: VerifierCache,
  { registry }: ImageName,
  failure: Failure,
): void {
  const { retryAfterMs } = failure.data;
  if (!failure.retryable) return;
  const waitMs = typeof retryAfterMs === 'number' ? Math.min(retryAfterMs, SILENT_MAX_MS) : SILENT_MS;
  setBounded(silent, registry, { until: now() + waitMs, reason: failure.message }, KEPT_MAX);
}

/** Parses the text. Text of another release or incomplete text counts as empty. */
function parseState(text: string | undefined): VerifierCache {
  const content = text === undefined ? undefined : parseJson(text);
  const stored = isObject(content) && content.version === 1 ? content : {};
  return {
    tags: new Map(
      pairs(
        stored.tags,
        (value): value is Json & Tag =>
          isObject(value) && typeof value.digest === 'string' && typeof value.at === 'number',
      ),
    ),
    verified: new Map(pairs(stored.verified, isKnownFacts)),
    recent: new Map(),
    silent: new Map(),
    trusts: new Map(),
    hasNews: false,
  };
}

function pairs<T extends Json>(value: Json | undefined, is: (value: Json) => value is T): [string, T][] {
  return (Array.isArray(value) ? value : []).flatMap((pair): [string, T][] => {
    const [key, each] = Array.isArray(pair) ? pair : [];
    return typeof key === 'string' && each !== undefined && is(each) ? [[key, each]] : [];
  });
}

function isKnownFacts(value: Json): value is Json & KnownFacts {
  if (!isObject(value) || value.state !== 'known' || typeof value.digest !== 'string') return false;
  return [value.signatures, value.faults, value.documents].every((each) => Array.isArray(each));
}
