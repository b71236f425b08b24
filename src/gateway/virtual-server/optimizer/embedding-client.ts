// Calls an embedding service, and checks its answers. Supports text-embeddings-inference (GET /info, POST /embed) and
// OpenAI (POST /embeddings).

import { isObject, shownText } from '#std/json.ts';
import type { MeaningPorts } from './ports.ts';

export interface Service {
  readonly url: string;
  readonly timeoutMs: number;
  /** Set for a service with OpenAI's API. */
  readonly openai?: { readonly model: string; readonly headers: Readonly<Record<string, string>> };
}

export interface Model {
  readonly id: string;
  /** Maximum number of texts in one request. */
  readonly batch: number;
}

export type Vector = Float32Array;

type Asking = Pick<MeaningPorts, 'fetch' | 'apiKey'>;

const USUAL_BATCH = 32;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Reads the model's name and batch size. Throws an Error that describes the fault of the service. */
export async function readModel(service: Service, ports: Asking): Promise<Model> {
  if (service.openai !== undefined) return { id: service.openai.model, batch: USUAL_BATCH };
  const info = await askService(service, ports, '/info');
  if (!isObject(info)) throw new Error('its /info is not a JSON object');
  const { model_id: id, model_sha: sha, max_client_batch_size: batch } = info;
  const most = typeof batch === 'number' && Number.isInteger(batch) && batch > 0 ? batch : USUAL_BATCH;
  return { id: `${shownText(id)} ${shownText(sha)}`, batch: most };
}

/** Returns one vector of length 1 for each text. Throws an Error that describes the fault of the service. */
export async function readVectors(
  service: Service,
  ports: Asking,
  inputs: readonly string[],
): Promise<readonly Vector[]> {
  if (service.openai !== undefined) return readOpenAiVectors(service, service.openai.model, ports, inputs);
  const answer = await askService(service, ports, '/embed', JSON.stringify({ inputs, truncate: true }));
  if (!Array.isArray(answer) || answer.length !== inputs.length)
    throw new Error('its /embed does not answer with one vector for each text');
  return answer.map((value) => unitVector(value, '/embed'));
}

async function readOpenAiVectors(
  service: Service,
  model: string,
  ports: Asking,
  inputs: readonly string[],
): Promise<readonly Vector[]> {
  const path = '/embeddings';
  const body = JSON.stringify({ model, input: inputs, encoding_format: 'float' });
  const answer = await askService(service, ports, path, body);
  const data = isObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isObject) : [];
  // Each vector states the index of its text.
  const found = inputs.map((_, index) => data.filter((item) => item.index === index));
  if (data.length !== inputs.length || found.some(({ length }) => length !== 1))
    throw new Error(`its ${path} does not answer with one vector for each text`);
  return found.flat().map(({ embedding }) => unitVector(embedding, path));
}

function unitVector(value: unknown, path: string): Vector {
  if (!Array.isArray(value) || value.length === 0 || !value.every((each) => Number.isFinite(each)))
    throw new Error(`its ${path} does not answer with vectors of numbers`);
  const length = Math.hypot(...value);
  return Float32Array.from(value, (each) => (length === 0 ? 0 : each / length));
}

async function askService(
  { url, timeoutMs, openai }: Service,
  { fetch, apiKey }: Asking,
  path: string,
  body?: string,
): Promise<unknown> {
  const { status, body: answer } = await fetch({
    url: url.replace(/\/*$/, path),
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...openai?.headers,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(openai === undefined || apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body,
    // The operator configures the service, which usually has a private address in the cluster.
    allowPrivate: true,
    timeoutMs,
    maxBytes: ANSWER_BYTES_MAX,
  });
  if (status !== 200) throw new Error(`its ${path} answers with status ${status}`);
  return JSON.parse(Buffer.from(answer).toString());
}
