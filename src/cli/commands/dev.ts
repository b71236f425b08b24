// `skep dev`: runs a cluster, a database, a sample repository, the reconciler and the registry service on one machine.

import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '#hosts/clock.ts';
import { writeColoured } from '#hosts/colour.ts';
import { loadConfig } from '#hosts/config/configuration.ts';
import { readPort } from '#hosts/port.ts';
import { PACKAGE_TYPES, type PackageType } from '#registry/catalogue/packages.ts';

interface Options {
  readonly port: number;
  readonly data?: string;
  readonly config?: string;
  readonly run?: readonly PackageType[];
  readonly newToken?: boolean;
  readonly once?: boolean;
  readonly verbose?: boolean;
}

export function devCommand(): Command {
  return new Command('dev')
    .description(
      'Run everything on this machine: cluster, database, sample repository, reconciler, registry, and MCP servers.',
    )
    .option('--port <number>', 'port of the registry service, its page and the MCP servers', readPort, 8080)
    .option('--data <dir>', 'folder of the state (default: .skep/dev)')
    .option(
      '-c, --config <file>',
      'use the sources of this skep.yaml instead of the sample; its dev.images names the programs that may run',
    )
    .option(
      '--run <types>',
      'types of packages of catalogue entries that run in place of their images: npm,pypi (as dev.run of skep.yaml)',
      readTypes,
    )
    .addOption(
      new Option(
        '--new-token',
        'create a new token for calls of servers; the token of earlier starts is refused from then on',
      ).conflicts('once'),
    )
    .option('--once', 'make one run, print its changes, and exit')
    .option('-v, --verbose', 'name each object that the start creates')
    .addHelpText('after', '\nExamples:\n  skep dev --port 8080\n  skep dev -c skep.yaml --run npm,pypi')
    .action(async ({ port, data, newToken, once, config, run, verbose }: Options) => {
      const given = config === undefined ? undefined : await loadConfig({ config });
      const { runDev } = await import('#hosts/dev/session.ts');
      // Each configuration has its own state folder, so that two fleets do not share a cluster.
      const dir = resolve(data ?? (given === undefined ? '.skep/dev' : `.skep/dev-${given.name}`));
      await runDev({
        ...{ port, dir, given, run, say: sayer() },
        newToken: newToken === true,
        once: once === true,
        verbose: verbose === true,
      });
    });
}

function readTypes(text: string): readonly PackageType[] {
  return text.split(',').map((word) => {
    const type = PACKAGE_TYPES.find((each) => each === word.trim());
    if (type === undefined)
      throw new InvalidArgumentError(`types are ${PACKAGE_TYPES.join(' and ')}, separated by a comma`);
    return type;
  });
}

/** Returns a function that prints lines with the seconds since the start. */
function sayer(): (text: string) => void {
  const started = systemClock.monotonic();
  return (text) => {
    const seconds = ((systemClock.monotonic() - started) / 1000).toFixed(1).padStart(5);
    writeColoured(process.stdout, `[${seconds} s] ${text.replaceAll('\n', '\n          ')}\n`);
  };
}
