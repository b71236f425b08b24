// Reads server-sent events with a token in the header, which EventSource cannot send (HTML Standard, section 9.2).

/**
 * Calls the callback with the name of each event. Resolves when the stream ends; rejects if the stream cannot be
 * opened.
 */
export async function readEvents(
  url: URL,
  headers: Readonly<Record<string, string>>,
  heard: (event: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(url, { headers, signal, credentials: 'omit', redirect: 'error' });
  if (!response.ok || response.body === null) throw new Error(`no stream: ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = `${rest}${read.value}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('event: ')) heard(line.slice('event: '.length));
  }
}
