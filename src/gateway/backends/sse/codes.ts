// Lists the codes of failures of HTTP+SSE servers.

export const SSE_CODES = {
  'sse-closed':
    'The HTTP+SSE server ended its event stream before it named the endpoint for messages: look at its log.',
  'sse-endpoint':
    'The HTTP+SSE server named an endpoint for messages that is not a URL of its own origin; messages are not sent there.',
  'sse-refused': 'The HTTP+SSE server did not answer GET with an event stream: check the URL and its path.',
  'sse-silent':
    'The HTTP+SSE server opened an event stream and did not name the endpoint for messages in time: look at its load and its log.',
  'sse-unreachable': 'The proxy cannot connect to the HTTP+SSE server: check address, port and network policies.',
  'sse-unauthorized':
    'The proxy could not get credentials at the HTTP+SSE server for the caller: the log has the refusal.',
} as const;
