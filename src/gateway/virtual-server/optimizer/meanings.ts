// Compares the meanings of texts by vectors of an embedding service. Stores vectors, and pauses after a failure of the
// service.

import { setBounded } from '#std/bounded.ts';
import { sha256 } from '#std/hash.ts';
import { type Model, readModel, readVectors, type Service, type Vector } from './embedding-client.ts';
import type { MeaningPorts } from './ports.ts';

export interface Near {
  /** Index of the text in the list. */
  readonly position: number;
  /** Distance from 0 (same meaning) to 2 (opposite meaning). */
  readonly distance: number;
}

/** Texts ordered by distance, or why the embedding service is not usable. */
type Nearest = { readonly ok: true; readonly near: readonly Near[] } | { readonly ok: false; readonly why: string };

export interface Meanings {
  /** Reads the vectors of texts without a stored vector. Resolves even if the service fails. */
  learn(texts: readonly string[]): Promise<void>;
  /**
   * Orders texts by the distance of their meaning. The vectors are cached by the array object, so pass the same array
   * for an unchanged list.
   */
  nearest(query: string, texts: readonly string[]): Promise<Nearest>;
}

/** Time after a failure in which the service gets no requests. */
const RETRY_MS = 5000;
const TEXTS_MAX = 20_000;
const QUERIES_MAX = 1000;

interface MeaningState {
  readonly service: Service;
  readonly ports: MeaningPorts;
  readonly known: Map<string, Vector>;
  readonly queries: Map<string, Vector>;
  model: Model | undefined;
  /** Number of dimensions of all vectors. undefined before the first vector. */
  dimensions: number | undefined;
  failure: { readonly why: string; readonly until: number } | undefined;
  /** Resolves at the end of the last call of `learn`. Calls run one after another. */
  learning: Promise<void>;
  vectors: WeakMap<readonly string[], readonly (Vector | undefined)[]>;
}

export function createMeanings(service: Service, ports: MeaningPorts): Meanings {
  const state: MeaningState = {
    ...{ service, ports, known: new Map(), queries: new Map(), model: undefined, dimensions: undefined },
    ...{ failure: undefined, learning: Promise.resolve(), vectors: new WeakMap() },
  };
  return {
    learn: (texts) => learn(state, texts),
    async nearest(query, texts) {
      const vectors = vectorsOf(state, texts);
      if (vectors.includes(undefined)) void learn(state, texts);
      const asked = await attempt(state, async () => queryVector(state, query));
      if (asked === undefined)
        return { ok: false, why: `the embedding service cannot be used now: ${state.failure?.why}` };
      if (!vectors.some((each) => each !== undefined)) return { ok: false, why: 'the tools have no embeddings yet' };
      return { ok: true, near: sortByDistance(asked, vectors) };
    },
  };
}

function learn(state: MeaningState, texts: readonly string[]): Promise<void> {
  state.learning = state.learning.then(async () => {
    await attempt(state, () => learnUnknown(state, texts));
  });
  return state.learning;
}

async function learnUnknown(state: MeaningState, texts: readonly string[]): Promise<true> {
  const { service, ports, known } = state;
  const model = await currentModel(state);
  const unknown = [...new Set(texts)].filter((text) => !known.has(textKey(model, text)));
  for (let start = 0; start < unknown.length; start += model.batch) {
    const batch = unknown.slice(start, start + model.batch);
    const vectors = await readVectors(service, ports, batch);
    for (const [index, vector] of vectors.entries()) {
      takeDimensions(state, vector);
      setBounded(known, textKey(model, batch[index] ?? ''), vector, TEXTS_MAX);
    }
    state.vectors = new WeakMap();
  }
  return true;
}

async function queryVector(state: MeaningState, query: string): Promise<Vector> {
  const { service, ports, queries } = state;
  const model = await currentModel(state);
  const key = textKey(model, query);
  const known = queries.get(key);
  if (known !== undefined) return known;
  const [vector] = await readVectors(service, ports, [query]);
  if (vector === undefined) throw new Error('its /embed answers without a vector');
  takeDimensions(state, vector);
  setBounded(queries, key, vector, QUERIES_MAX);
  return vector;
}

/**
 * Checks that the dimensions are unchanged. If they differ, the model has changed: drops all vectors of the previous
 * model, and throws an Error.
 */
function takeDimensions(state: MeaningState, { length }: Vector): void {
  const before = state.dimensions;
  state.dimensions = length;
  if (before === undefined || before === length) return;
  state.known.clear();
  state.queries.clear();
  state.vectors = new WeakMap();
  throw new Error(`its vectors have ${length} numbers, and had ${before} before`);
}

async function currentModel(state: MeaningState): Promise<Model> {
  state.model ??= await readModel(state.service, state.ports);
  return state.model;
}

function textKey({ id }: Model, text: string): string {
  return sha256(`${id}\n${text}`);
}

/** Runs `work`. Returns undefined if the service fails or has failed in the last seconds. */
async function attempt<T>(state: MeaningState, work: () => Promise<T>): Promise<T | undefined> {
  const { ports, failure } = state;
  if (failure !== undefined && ports.clock.monotonic() < failure.until) return undefined;
  try {
    const result = await work();
    state.failure = undefined;
    return result;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (state.failure?.why !== why) ports.failed(why);
    state.failure = { why, until: ports.clock.monotonic() + RETRY_MS };
    // The service may return with another model.
    state.model = undefined;
    return undefined;
  }
}

function vectorsOf(state: MeaningState, texts: readonly string[]): readonly (Vector | undefined)[] {
  const { vectors, model, known } = state;
  if (model === undefined) return texts.map(() => undefined);
  const found = vectors.get(texts);
  if (found !== undefined) return found;
  const read = texts.map((text) => known.get(textKey(model, text)));
  vectors.set(texts, read);
  return read;
}

function sortByDistance(query: Vector, vectors: readonly (Vector | undefined)[]): readonly Near[] {
  return vectors
    .flatMap((vector, position): readonly Near[] =>
      vector === undefined ? [] : [{ position, distance: cosineDistance(query, vector) }],
    )
    .sort((a, b) => a.distance - b.distance || a.position - b.position);
}

function cosineDistance(a: Vector, b: Vector): number {
  let product = 0;
  for (let index = 0; index < a.length; index += 1) product += (a[index] ?? 0) * (b[index] ?? 0);
  return 1 - product;
}
