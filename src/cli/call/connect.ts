// Connects to an MCP server, with the transport and the protocol version that it supports.

import {
  type AuthProvider,
  Client,
  type ElicitRequest,
  type ElicitResult,
  type FetchLike,
  type LoggingLevel,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { TASKS } from '#gateway/wire/extensions/identifiers.ts';
import { VERSION } from '#hosts/version.ts';
import { acceptHandles } from './tasks.ts';

export interface ConnectSettings {
  readonly url: URL;
  readonly fetch: FetchLike;
  readonly authProvider: AuthProvider;
  readonly elicit: (params: ElicitRequest['params']) => Promise<ElicitResult>;
  readonly log: (level: LoggingLevel, logger: string | undefined, data: unknown) => void;
}

/**
 * Statuses with which a server with the older HTTP+SSE transport responds to a POST (MCP 2025-11-25, Transports,
 * Backwards Compatibility).
 */
const OLDER: ReadonlySet<number> = new Set([400, 404, 405]);

/** Connects to the server. The caller must call `leave` at the end. */
export async function connect(settings: ConnectSettings): Promise<Client> {
  const { url, fetch, authProvider } = settings;
  const options = { fetch, authProvider };
  if (url.pathname.endsWith('/sse')) return open(settings, new SSEClientTransport(url, options));
  try {
    return await open(settings, new StreamableHTTPClientTransport(url, options));
  } catch (error) {
    if (!(error instanceof SdkHttpError) || !OLDER.has(error.status)) throw error;
    return open(settings, new SSEClientTransport(url, options)).catch(() => {
      throw error;
    });
  }
}

async function open({ elicit, log }: ConnectSettings, transport: Transport): Promise<Client> {
  const client = new Client(
    { name: 'skep', version: VERSION },
    {
      capabilities: { elicitation: { form: {}, url: {} }, extensions: { [TASKS]: {} } },
      // A server with HTTP+SSE supports only protocol versions with sessions, and would refuse a request for its
      // versions.
      versionNegotiation: transport instanceof SSEClientTransport ? undefined : { mode: 'auto' },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => elicit(params));
  client.setNotificationHandler('notifications/message', ({ params }) => log(params.level, params.logger, params.data));
  await client.connect(transport);
  acceptHandles(transport);
  return client;
}

/** Ends the session, so that the server can free its resources, and closes the connection. */
export async function leave(client: Client): Promise<void> {
  const { transport } = client;
  // The connection is closed even if the session cannot be ended.
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined);
  await client.close();
}
