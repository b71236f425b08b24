// Open consoles without a browser: each sends the requests that the console sends, and shows one resource of its own.

const RETRY_MS = 100;

export interface Readers {
  /** Number of answers that were read so far, and their bytes. */
  read(): { readonly answers: number; readonly bytes: number };
  close(): Promise<void>;
}

/** Opens a console for each resource. They follow the runs, and read the fleet and their resource after each run. */
export function openReaders(url: string, token: string, resources: readonly string[]): Readers {
  const over = new AbortController();
  const counts = { answers: 0, bytes: 0 };

  async function get(path: string, more: Readonly<Record<string, string>> = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, ...more };
    const response = await fetch(`${url}${path}`, { headers, signal: over.signal });
    if (response.status !== 200 && response.status !== 304) throw new Error(`${path}: ${response.status}`);
    return response;
  }

  async function readWhole(response: Response): Promise<void> {
    counts.bytes += (await response.arrayBuffer()).byteLength;
    counts.answers += 1;
  }

  async function keepOpen(id: string): Promise<void> {
    let tag = '';
    const load = async (): Promise<void> => {
      const fleet = await get('/fleet', tag === '' ? {} : { 'if-none-match': tag });
      tag = fleet.headers.get('etag') ?? '';
      await readWhole(fleet);
      const query = `id=${encodeURIComponent(id)}`;
      for (const part of ['', '/readings']) await readWhole(await get(`/fleet/resource${part}?${query}`));
    };
    await load();
    const stream = await get('/fleet/events');
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      if (part.value.includes('event: fleet')) await load();
    }
  }

  const open = resources.map(async (id) => {
    while (!over.signal.aborted) {
      await keepOpen(id).catch((error: unknown) => {
        if (!over.signal.aborted) throw error;
      });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  });
  return {
    read: () => ({ ...counts }),
    async close() {
      over.abort();
      await Promise.all(open);
    },
  };
}
