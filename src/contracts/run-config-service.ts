// Defines the blocks of a proxy's configuration about its own service: limits, timeouts, allowed hosts and origins,
// metrics. Their values come from annotations `skep.dev/...` or from skep.yaml, because specs have no fields for them.

import { addressed } from '#std/address/address.ts';
import { Type } from '#std/json-schema.ts';

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });
const Texts = (description: string) => Type.Array(Text('An item.'), { description });
const Count = (description: string) => Type.Integer({ minimum: 1, description });
const Seconds = (description: string) => Type.Integer({ minimum: 1, maximum: 86_400, description });

/** Limits for each replica. */
const Limits = Type.Object(
  {
    request_bytes: Type.Optional(Count('Largest body of a request, in bytes. Absent: 4 MiB.')),
    message_bytes: Type.Optional(Count('Largest message of the server that has to be read, in bytes. Absent: 16 MiB.')),
    requests_per_second: Type.Optional(Count('Requests of all callers. Absent: no limit.')),
    concurrent_calls: Type.Optional(Count('Calls in flight. Absent: 1024.')),
    streams: Type.Optional(Count('Open streams. Absent: 12000.')),
    per_caller: Type.Optional(
      Type.Object(
        {
          requests_per_second: Type.Optional(Count('Requests of one caller. Absent: no limit.')),
          concurrent_calls: Type.Optional(Count('Calls in flight of one caller. Absent: no limit.')),
          streams: Type.Optional(Count('Open streams of one caller. Absent: no limit.')),
        },
        CLOSED,
      ),
    ),
  },
  { ...CLOSED, description: 'Limits of one replica. Beyond them callers get 429 or 503.' },
);

const Timeouts = Type.Object(
  {
    first_byte_seconds: Type.Optional(Seconds('Until the server begins its response. Absent: 300.')),
    idle_seconds: Type.Optional(Seconds('Between two parts of a response that is not a stream. Absent: 300.')),
    keep_alive_seconds: Type.Optional(Seconds('Between two comments on a quiet stream. Absent: 20.')),
    shutdown_seconds: Type.Optional(Seconds('Calls in flight get this long to end. Absent: 25.')),
  },
  CLOSED,
);

const Metrics = Type.Object(
  {
    host: addressed(Text('Address to listen on.'), 'host'),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port to listen on.' }),
  },
  { ...CLOSED, description: 'Listener of /metrics. Absent: none.' },
);

const Stdio = Type.Object(
  {
    sharing: Type.Enum(['shared', 'perSession'], {
      description: 'shared: one process answers all clients. perSession: each session has a process of its own.',
    }),
    pods: Type.Integer({ minimum: 1, description: 'For perSession: how many processes there are.' }),
  },
  { ...CLOSED, description: 'For stdio. Absent: shared, one process.' },
);

const Process = Type.Object(
  {
    command: Type.Array(Type.String(), { minItems: 1, description: 'Program and arguments.' }),
    env: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Its whole environment.' })),
    directory: Type.Optional(Text('Its working directory.')),
  },
  { ...CLOSED, description: 'For stdio, in place of attach: a process that the proxy starts.' },
);

const Sleep = Type.Object(
  {
    after_seconds: Type.Integer({
      minimum: 1,
      maximum: 604_800,
      description: 'Time without calls and open streams after which the server is stopped.',
    }),
    wake_seconds: Type.Integer({
      minimum: 1,
      maximum: 600,
      description: 'Time that a call waits for the start of the server.',
    }),
    stateful_set: Text('Name of the StatefulSet of the server, in the namespace of the proxy.'),
    deployment: Text('Name of the Deployment of the proxy. While it has several pods, none of them stops the server.'),
  },
  { ...CLOSED, description: 'The proxy stops the server while no client uses it. Absent: the server always runs.' },
);

/** Keys of these blocks in the proxy's configuration. */
export const SERVICE_BLOCKS = {
  stdio: Type.Optional(Stdio),
  sleep: Type.Optional(Sleep),
  process: Type.Optional(Process),
  session_key_files: Type.Optional(
    Texts('Files with the keys that seal session ids: the first seals, all open. Absent: a key of this process alone.'),
  ),
  limits: Type.Optional(Limits),
  timeouts: Type.Optional(Timeouts),
  allowed_hosts: Type.Optional(
    Texts('Accepted values of Host. Absent: all, but on loopback listeners only the names of this machine.'),
  ),
  allowed_origins: Type.Optional(
    Texts(
      'Origins of pages that may send requests, such as https://app.example.com; * allows all. Absent: only the origin of the proxy itself.',
    ),
  ),
  mcp_path: Type.Optional(
    Type.String({
      pattern: '^/[^?#\\s]*$',
      description: 'Path of the endpoint at the server. Absent: /mcp, with SSE /sse.',
    }),
  ),
  backend_host_header: Type.Optional(
    Type.Enum(['target', 'localhost', 'preserve'], {
      description: 'Host header for the server: its own (the default), localhost, or the one that the client sent.',
    }),
  ),
  backend_ca_file: Type.Optional(Text('PEM file to trust for the server, in addition to the roots of the image.')),
  metrics: Type.Optional(Metrics),
  debug: Type.Optional(Type.Boolean({ description: 'More is logged.' })),
};
