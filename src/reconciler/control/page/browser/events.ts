// Reads server-sent events with a token in the header, which EventSource cannot send (HTML Standard, section 9.2).

/** Receives a stream of events. */
export interface EventReader {
  /** Called when the stream is open: earlier events were lost. */
  readonly onOpen: () => void;
  readonly onEvent: (event: string) => void;
}

/** The reconciler sends a comment every 15 s. A stream that is silent for longer is broken, also if no end was seen. */
const SILENT_MS = 40_000;

/** Reads the stream. Resolves when it ends; rejects if it cannot be opened, is aborted, or is silent for too long. */
export async function readEvents(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { onOpen, onEvent }: EventReader,
  signal: AbortSignal,
): Promise<void> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), SILENT_MS);
  try {
    const signals = AbortSignal.any([signal, silent.signal]);
    const response = await fetch(url, { headers, signal: signals, credentials: 'same-origin', redirect: 'error' });
    if (!response.ok || response.body === null) throw new Error(`no stream: ${response.status}`);
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENT_MS);
      const lines = `${rest}${read.value}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('event: ')) onEvent(line.slice('event: '.length));
    }
  } finally {
    clearTimeout(timer);
  }
}
