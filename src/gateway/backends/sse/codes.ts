// The codes of failures of HTTP+SSE servers.

export const SSE_CODES = {
  'sse-closed': 'The HTTP+SSE server ended its event stream before it said where messages go: its log says why.',
  'sse-endpoint':
    'The HTTP+SSE server named an endpoint for messages that is no URL of its own origin; messages are not sent there.',
  'sse-refused': 'The HTTP+SSE server did not answer GET with an event stream: check the URL and its path.',
  'sse-silent':
    'The HTTP+SSE server opened an event stream and did not say in time where messages go: look at its load and its log.',
  'sse-unreachable': 'The HTTP+SSE server cannot be connected to: check address, port and network policies.',
  'sse-unauthorized':
    'The proxy could not get rights at the HTTP+SSE server for the caller: the log says what was refused.',
} as const;
