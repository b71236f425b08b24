// Starts a small embedding service with the HTTP API of text-embeddings-inference. Texts about the same subject have
// similar vectors.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestEmbeddings {
  readonly url: string;
  /** Texts of each request, in order. */
  readonly asked: readonly (readonly string[])[];
  /** Returns model and headers of the last request in OpenAI's format. */
  readonly openai: () => { readonly model: unknown; readonly headers: IncomingHttpHeaders } | undefined;
  /** Sets the behaviour of later responses. */
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** `hang`: the service never responds. `wide`: its vectors have more numbers. */
export type Behaviour = 'well' | 'hang' | 'fail' | 'wide' | 'nonsense' | 'few';

/** Each pattern matches the words of one subject. */
const SUBJECTS: readonly RegExp[] = [
  /picture|photo|snapshot|camera/i,
  /money|invoice|pay|bill/i,
  /weather|rain|forecast|umbrella/i,
  /note|write|memo/i,
];
const BATCH = 4;

export async function startEmbeddings(): Promise<TestEmbeddings> {
  const asked: string[][] = [];
  let behaviour: Behaviour = 'well';
  let openai: { model: unknown; headers: IncomingHttpHeaders } | undefined;

  function embed(inputs: readonly string[]): unknown {
    if (behaviour === 'nonsense') return { vectors: inputs };
    const extra = behaviour === 'wide' ? [0] : [];
    const vectors = inputs.map((text) => [...SUBJECTS.map((each) => (each.test(text) ? 1 : 0)), 0.05, ...extra]);
    return behaviour === 'few' ? vectors.slice(1) : vectors;
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (behaviour === 'hang') return;
      const send = (status: number, value: unknown) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(value));
      };
      if (behaviour === 'fail') return send(503, { error: 'overloaded' });
      if (request.url === '/info') return send(200, { model_id: 'subjects', max_client_batch_size: BATCH });
      if (request.url === '/v1/embeddings') {
        const { model, input } = JSON.parse(Buffer.concat(chunks).toString());
        openai = { model, headers: request.headers };
        asked.push(input);
        const vectors = embed(input);
        if (!Array.isArray(vectors)) return send(200, vectors);
        return send(200, { data: vectors.map((embedding, index) => ({ index, embedding })).reverse() });
      }
      if (request.url !== '/embed') return send(404, {});
      const { inputs } = JSON.parse(Buffer.concat(chunks).toString());
      if (inputs.length > BATCH) return send(413, { error: 'batch size' });
      asked.push(inputs);
      send(200, embed(inputs));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    openai: () => openai,
    behave(next) {
      behaviour = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
