// Parses the URL for messages to an HTTP+SSE server (MCP 2024-11-05, Transports, the `endpoint` event).

const MAX_LENGTH = 4096;

/** Returns the absolute URL for POSTs. undefined if `data` is not a URL of the stream's origin. */
export function endpointUrl(stream: string, data: string): string | undefined {
  const text = data.trim();
  if (text === '' || text.length > MAX_LENGTH || !URL.canParse(text, stream)) return undefined;
  const base = new URL(stream);
  const endpoint = new URL(text, base);
  if (endpoint.origin !== base.origin || endpoint.username !== '' || endpoint.password !== '') return undefined;
  endpoint.hash = '';
  return endpoint.href;
}
