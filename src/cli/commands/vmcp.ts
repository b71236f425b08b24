// `skep vmcp`: serves a virtual MCP server in front of several MCP servers.

import { Command, Option } from 'commander';
import { releaseMemoryWhenIdle } from '#hosts/idle-memory.ts';
import { keepServing } from '#hosts/keep-serving.ts';
import type { LogLevel } from '#hosts/log.ts';
import { readPort } from '#hosts/port.ts';
import { awaitSignal } from '#hosts/signals.ts';
import { spendMemory } from '#hosts/v8-flags.ts';

interface ServeOptions {
  readonly config: string;
  readonly host: string;
  readonly port: number;
  readonly debug?: true;
  readonly logLevel: LogLevel;
}

export function vmcpCommand(): Command {
  return new Command('vmcp')
    .description('Serve several MCP servers as one, or check its configuration.')
    .addCommand(serveVirtualCommand(), { isDefault: true })
    .addCommand(validateVirtualCommand())
    .addHelpText('after', '\nExample:\n  skep vmcp validate --config=/etc/vmcp-config/config.yaml');
}

function serveVirtualCommand(): Command {
  return new Command('serve')
    .description('Serve the virtual MCP server that a configuration describes.')
    .requiredOption('-c, --config <file>', 'configuration (YAML)')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0: any', readPort, 4483)
    .option('--debug', 'log more')
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addHelpText('after', '\nExample:\n  skep vmcp serve --config=/etc/vmcp-config/config.yaml --host=0.0.0.0')
    .action(async (options: ServeOptions) => {
      spendMemory();
      keepServing();
      const { serveFile } = await import('#hosts/virtual-server/serve-file.ts');
      const running = await serveFile(options, process.env);
      process.stdout.write(`serving ${running.url}\n`);
      releaseMemoryWhenIdle();
      await awaitSignal();
      await running.stop();
    });
}

function validateVirtualCommand(): Command {
  return new Command('validate')
    .description('Check a configuration as the server would at its start, without calling backends.')
    .requiredOption('-c, --config <file>', 'configuration (YAML)')
    .addHelpText('after', '\nExample:\n  skep vmcp validate --config=config.yaml')
    .action(async ({ config: file }: { readonly config: string }) => {
      const { createWatchedFiles } = await import('#hosts/watched-files.ts');
      const { checkVirtualConfig } = await import('#hosts/virtual-server/validate.ts');
      const warnings = checkVirtualConfig(createWatchedFiles(), file);
      for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
      process.stdout.write(`${file} is valid\n`);
    });
}
