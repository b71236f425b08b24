// `skep sample`: runs a server of the sample fleet, as in its container.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Argument, Command, Option } from 'commander';
import { systemClock } from '#hosts/clock.ts';
import { readPort } from '#hosts/port.ts';
import { awaitSignal } from '#hosts/signals.ts';
import { VERSION } from '#hosts/version.ts';
import type { SampleServer } from '#samples/server.ts';

interface Options {
  readonly transport: 'stdio' | 'streamable-http' | 'sse';
  readonly host: string;
  readonly port: number;
  readonly folder?: string;
  readonly remark?: string;
}

type Make = (folder: string | undefined) => Promise<SampleServer>;

/** Folder of the documentation, next to `src/` and `dist/`. */
const DOCUMENTATION = fileURLToPath(new URL('../../../docs', import.meta.url));

const SAMPLES: Readonly<Record<string, Make>> = {
  notes: async (folder) => {
    const [{ notesServer }, { notesIn }] = await Promise.all([
      import('#samples/notes/server.ts'),
      import('#samples/notes/notes.ts'),
    ]);
    return notesServer(notesIn(folder ?? join(process.cwd(), 'notes')));
  },
  holidays: async () => {
    const { holidaysServer } = await import('#samples/holidays/server.ts');
    return holidaysServer(() => new Date(systemClock.now()).toISOString().slice(0, 10));
  },
  handbook: async (folder) => {
    const { handbookServer } = await import('#samples/handbook/server.ts');
    return handbookServer(folder ?? DOCUMENTATION);
  },
};

const TRANSPORTS = ['stdio', 'streamable-http', 'sse'];

export function sampleCommand(): Command {
  return new Command('sample')
    .description('Run a small MCP server of the sample fleet: notes, holidays or handbook.')
    .addArgument(new Argument('<name>', 'which').choices(Object.keys(SAMPLES)))
    .addOption(
      new Option('--transport <name>', 'transport for clients')
        .choices(TRANSPORTS)
        .env('MCP_TRANSPORT')
        .default('stdio'),
    )
    .addOption(new Option('--host <address>', 'address to listen on').env('MCP_HOST').default('127.0.0.1'))
    .addOption(new Option('--port <number>', 'port to listen on').env('MCP_PORT').argParser(readPort).default(8080))
    .option(
      '--folder <dir>',
      'folder of the notes (./notes), or of the pages of the handbook (the documentation of skep)',
    )
    .option(
      '--remark <text>',
      'text at the end of the description of its first tool: to try locks, as if a new release had added it',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  skep sample holidays --transport streamable-http --port 9000\n  skep sample notes',
    )
    .action(runSample);
}

function withRemark(server: SampleServer, remark: string): SampleServer {
  const [first, ...rest] = server.tools;
  if (first === undefined) return server;
  return { ...server, tools: [{ ...first, description: `${first.description} ${remark}` }, ...rest] };
}

async function runSample(name: string, { transport, host, port, folder, remark }: Options): Promise<void> {
  const made = await SAMPLES[name]?.(folder);
  if (made === undefined) return;
  const server = remark === undefined ? made : withRemark(made, remark);
  const { openConversation } = await import('#samples/conversation.ts');
  const open = () => openConversation(server, VERSION);
  if (transport === 'stdio') {
    const { serveStdio } = await import('#samples/stdio.ts');
    return serveStdio(open(), process.stdin, process.stdout);
  }
  const { serveHttp } = await import('#samples/http.ts');
  const listener = await serveHttp({ transport, host, port, open, newId: () => randomUUID() });
  process.stderr.write(`serving ${listener.url}\n`);
  await awaitSignal();
  await listener.stop();
}
