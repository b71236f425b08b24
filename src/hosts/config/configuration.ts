// Finds and reads the configuration file: the file that a command names, or skep.yaml, or the file of `skep dev`.

import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { Failure } from '#std/failure.ts';
import type { Config } from './config.ts';
import { settingsText } from './settings-file.ts';

export interface InstanceFlags {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Adds the options that all commands about an instance have. */
export function withInstanceFlags(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: skep.yaml, or else the file of skep dev)')
    .option('--kubeconfig <file>', 'kubeconfig to use')
    .option('--context <name>', 'context of the kubeconfig');
}

export function outputOption(formats: readonly string[] = ['text', 'json']): Option {
  return new Option('-o, --output <format>', 'format of the output').choices(formats).default('text');
}

/**
 * Settings of a `skep dev` that was started in this folder. Used if no option and no variable names a file and
 * skep.yaml does not exist.
 */
const DEV_FILE = '.skep/dev/skep.yaml';

/** Returns true if commands without `-c` use the settings of a `skep dev` that was started in this folder. */
export function isAboutDev(): boolean {
  return process.env.SKEP_SOURCES === undefined && !existsSync('skep.yaml') && existsSync(DEV_FILE);
}

function defaultFile(): string {
  const isDev = isAboutDev();
  if (isDev)
    process.stderr.write(`there is no skep.yaml here, so the command uses the settings of skep dev (-c ${DEV_FILE})\n`);
  return isDev ? DEV_FILE : 'skep.yaml';
}

export async function loadConfig(flags: InstanceFlags): Promise<Config> {
  const { readConfig } = await import('./read-config.ts');
  const file = flags.config ?? defaultFile();
  const text = settingsText(file);
  if (flags.config !== undefined && text === undefined) throw new Failure('usage', `${file}: no such file`);
  if (text === undefined && process.env.SKEP_SOURCES === undefined)
    throw new Failure('usage', `there is no ${file} here; name a configuration file with -c`);
  const config = readConfig({ text, file, environment: process.env });
  const { kubeconfig = config.cluster.kubeconfig, context = config.cluster.context } = flags;
  return {
    ...config,
    cluster: { ...config.cluster, kubeconfig, context },
  };
}
