// Lists the modes in which clients reach an MCP server: directly, through `skep proxy`, or through a virtual server. In
// one file, because the rows are the settings of the functions that start the programs of a mode.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatRunConfig, type RunConfig } from '#contracts/run-config.ts';
import { formatVmcpConfig, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { type Program, startProgram } from './mcp-program.ts';
import { type Backend, type ServerSettings, type StartServer, startFixture } from './mcp-servers.ts';

export const SKEP = fileURLToPath(new URL('../../src/skep.ts', import.meta.url));

export type Revision = '2025-11-25' | '2026-07-28';

export interface Mode {
  readonly name: string;
  readonly description: string;
  /** Settings of the MCP server. */
  readonly server: ServerSettings;
  /** Returns the proxy settings of this mode, in addition to common settings. Without it, clients use no proxy. */
  readonly proxy?: (backend: Backend) => Partial<RunConfig>;
  /** If set, the server is the only backend of a virtual server, with the returned settings. */
  readonly virtual?: (backend: Backend) => Pick<VmcpConfig['backends'][number], 'url' | 'transport'>;
  /** Transport between client and proxy. */
  readonly front: 'streamable-http' | 'sse';
  readonly revisions: readonly Revision[];
  /** Name of the mode whose list of expected results applies to this mode. Defaults to the mode's own name. */
  readonly list?: string;
}

const BOTH: readonly Revision[] = ['2025-11-25', '2026-07-28'];

function overNetwork({ url }: Backend): Partial<RunConfig> {
  return { transport: 'streamable-http', target_host: url.hostname, target_port: Number(url.port) };
}

function overHttp({ url }: Backend) {
  return { url: url.href, transport: 'streamable-http' } as const;
}

function overStdio(sharing: 'shared' | 'perSession', pods: number): (backend: Backend) => Partial<RunConfig> {
  return ({ command, env }) => ({ transport: 'stdio', process: { command, env }, stdio: { sharing, pods } });
}

export const MODES: readonly Mode[] = [
  {
    name: 'direct',
    description: 'the server itself',
    server: { transport: 'http', eras: 'session,stateless' },
    front: 'streamable-http',
    revisions: BOTH,
  },
  {
    name: 'streamable',
    description: 'a streamable HTTP server in the cluster',
    server: { transport: 'http', eras: 'session,stateless' },
    proxy: overNetwork,
    front: 'streamable-http',
    revisions: BOTH,
  },
  {
    name: 'remote',
    description: 'a streamable HTTP server somewhere else',
    server: { transport: 'http', eras: 'session,stateless' },
    proxy: ({ url }) => ({ transport: 'streamable-http', remote_url: url.href }),
    front: 'streamable-http',
    revisions: BOTH,
  },
  {
    name: 'stdio-per-session',
    description: 'a process of its own for each session',
    server: { transport: 'stdio', eras: 'session' },
    proxy: overStdio('perSession', 8),
    front: 'streamable-http',
    revisions: ['2025-11-25'],
  },
  {
    name: 'stdio-per-session-stateless',
    description: 'the same, for requests without sessions',
    server: { transport: 'stdio', eras: 'stateless' },
    proxy: overStdio('perSession', 8),
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
  {
    name: 'stdio-shared',
    description: 'one process for all clients',
    server: { transport: 'stdio', eras: 'session' },
    proxy: overStdio('shared', 1),
    front: 'streamable-http',
    revisions: ['2025-11-25'],
  },
  {
    name: 'stdio-shared-stateless',
    description: 'the same, for requests without sessions',
    server: { transport: 'stdio', eras: 'stateless' },
    proxy: overStdio('shared', 1),
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
  {
    name: 'sse',
    description: 'an HTTP+SSE server',
    server: { transport: 'sse', eras: 'session' },
    proxy: (backend) => ({ ...overNetwork(backend), transport: 'sse' }),
    front: 'streamable-http',
    revisions: ['2025-11-25'],
  },
  {
    name: 'bridge-2025-2026',
    description: 'clients with sessions, a server that only knows requests without',
    server: { transport: 'http', eras: 'stateless' },
    proxy: overNetwork,
    front: 'streamable-http',
    revisions: ['2025-11-25'],
  },
  {
    name: 'bridge-2025-2026-stdio',
    description: 'the same, with a server over stdio',
    server: { transport: 'stdio', eras: 'stateless' },
    proxy: overStdio('shared', 1),
    front: 'streamable-http',
    revisions: ['2025-11-25'],
  },
  {
    name: 'bridge-2026-2025',
    description: 'clients without sessions, a server that only knows sessions',
    server: { transport: 'http', eras: 'session' },
    proxy: overNetwork,
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
  {
    name: 'bridge-2026-2025-stdio',
    description: 'the same, with a server over stdio',
    server: { transport: 'stdio', eras: 'session' },
    proxy: overStdio('shared', 1),
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
  {
    name: 'bridge-2026-2025-sse',
    description: 'the same, with an HTTP+SSE server',
    list: 'bridge-2026-2025',
    server: { transport: 'sse', eras: 'session' },
    proxy: (backend) => ({ ...overNetwork(backend), transport: 'sse' }),
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
];

/** Modes with a virtual server of one backend, whose tools keep their names. */
export const VIRTUAL_MODES: readonly Mode[] = [
  {
    name: 'virtual',
    description: 'a virtual server of one streamable HTTP server',
    server: { transport: 'http', eras: 'session,stateless' },
    virtual: overHttp,
    front: 'streamable-http',
    revisions: BOTH,
  },
  {
    name: 'virtual-bridge-2025-2026',
    description: 'clients with sessions, a virtual server of one that only knows requests without',
    list: 'bridge-2025-2026',
    server: { transport: 'http', eras: 'stateless' },
    virtual: overHttp,
    front: 'streamable-http',
    revisions: ['2025-11-25'],
  },
  {
    name: 'virtual-bridge-2026-2025',
    description: 'clients without sessions, a virtual server of one that only knows sessions',
    list: 'bridge-2026-2025',
    server: { transport: 'http', eras: 'session' },
    virtual: overHttp,
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
  {
    name: 'virtual-sse',
    description: 'clients with sessions, a virtual server of one HTTP+SSE server',
    list: 'sse',
    server: { transport: 'sse', eras: 'session' },
    virtual: ({ url }) => ({ url: url.href, transport: 'sse' }),
    front: 'streamable-http',
    revisions: ['2025-11-25'],
  },
  {
    name: 'virtual-bridge-2026-2025-sse',
    description: 'clients without sessions, a virtual server of one HTTP+SSE server',
    list: 'bridge-2026-2025',
    server: { transport: 'sse', eras: 'session' },
    virtual: ({ url }) => ({ url: url.href, transport: 'sse' }),
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
];

/**
 * Modes that the conformance suite cannot test. The suite has no scenarios for the transport of 2024-11-05, and one of
 * its scenarios waits only 600 ms for a response, which may be too short to start a process.
 */
export const STORY_MODES: readonly Mode[] = [
  {
    name: 'bridge-2026-2025-per-session',
    description: 'clients without sessions, a process with sessions for each of theirs',
    server: { transport: 'stdio', eras: 'session' },
    proxy: overStdio('perSession', 8),
    front: 'streamable-http',
    revisions: ['2026-07-28'],
  },
  {
    name: 'sse-front',
    description: 'HTTP+SSE on both sides',
    server: { transport: 'sse', eras: 'session' },
    proxy: (backend) => ({ ...overNetwork(backend), transport: 'sse' }),
    front: 'sse',
    revisions: ['2025-11-25'],
  },
  {
    name: 'stdio-sse-front',
    description: 'HTTP+SSE before one process for all clients',
    server: { transport: 'stdio', eras: 'session' },
    proxy: overStdio('shared', 1),
    front: 'sse',
    revisions: ['2025-11-25'],
  },
];

export interface Reached {
  /** URL for clients. */
  readonly url: string;
  /** Returns the output of the proxy. Empty for the mode `direct`. */
  log(): string;
  stop(): Promise<void>;
}

export async function startMode(mode: Mode, startServer: StartServer = startFixture): Promise<Reached> {
  const server = await startServer(mode.server);
  if (mode.virtual !== undefined) {
    const virtual = await startVirtual({ backends: [{ name: 'only', ...mode.virtual(server.backend) }] });
    const stop = async () => {
      await virtual.stop();
      await server.stop();
    };
    return { ...virtual, stop };
  }
  if (mode.proxy === undefined) return { url: server.backend.url.href, log: () => '', stop: server.stop };
  try {
    const proxy = await startProxy({ proxy_mode: mode.front, ...mode.proxy(server.backend) });
    const stop = async () => {
      await proxy.stop();
      await server.stop();
    };
    return { ...proxy, stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Starts `skep proxy` with this configuration on 127.0.0.1. */
export async function startProxy(settings: Partial<RunConfig>): Promise<Reached> {
  const config: RunConfig = {
    schema_version: 'v0.1.0',
    name: 'conformance',
    namespace: 'tests',
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port: await freePort(),
    trust_proxy_headers: false,
    audit_config: { enabled: false, component: 'conformance' },
    ...settings,
  };
  const directory = await mkdtemp(join(tmpdir(), 'skep-proxy-'));
  const file = join(directory, 'runconfig.json');
  await writeFile(file, formatRunConfig(config));
  const program = startProgram([SKEP, 'proxy', '--config', file]);
  const stop = async () => {
    await program.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const url = await servingUrl(program, config.proxy_mode).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url, log: () => program.output(), stop };
}

async function servingUrl(program: Program, front: Mode['front']): Promise<string> {
  const [, url = ''] = await program.printed(/serving (http:\S+)/);
  return front === 'sse' ? new URL('/sse', url).href : url;
}

/** Default configuration of virtual servers: tools keep their names, and clients need no token. */
export const VIRTUAL_CONFIG: VmcpConfig = {
  name: 'conformance',
  groupRef: 'tests',
  backends: [],
  incomingAuth: { type: 'anonymous', authz: { type: 'none' } },
  outgoingAuth: { source: 'inline', backends: {} },
  aggregation: {
    conflictResolution: 'priority',
    conflictResolutionConfig: { prefixFormat: '{workload}_', priorityOrder: ['only'] },
    excludeAllTools: false,
  },
  operational: {
    timeouts: { default: '30s' },
    failureHandling: {
      healthCheckInterval: '30s',
      unhealthyThreshold: 3,
      healthCheckTimeout: '10s',
      statusReportingInterval: '30s',
      partialFailureMode: 'fail',
      circuitBreaker: { enabled: false, failureThreshold: 5, timeout: '1m' },
    },
  },
};

/** Starts `skep vmcp serve` with this configuration on 127.0.0.1. By default, backends get no credentials. */
export async function startVirtual(settings: Partial<VmcpConfig>): Promise<Reached> {
  const config = { ...VIRTUAL_CONFIG, ...settings };
  const open = Object.fromEntries(config.backends.map(({ name }) => [name, { type: 'unauthenticated' as const }]));
  const outgoingAuth = { ...config.outgoingAuth, backends: { ...open, ...config.outgoingAuth.backends } };
  const directory = await mkdtemp(join(tmpdir(), 'skep-vmcp-'));
  const file = join(directory, 'config.yaml');
  await writeFile(file, formatVmcpConfig({ ...config, outgoingAuth }));
  const program = startProgram([SKEP, 'vmcp', 'serve', '--config', file, '--port', '0']);
  const stop = async () => {
    await program.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const url = await servingUrl(program, 'streamable-http').catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url, log: () => program.output(), stop };
}
