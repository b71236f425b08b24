// Finds the folder of manifests and the cluster for `skep lock`, from the options, from a named configuration, or from
// the configuration of `skep dev`.

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_API_GROUP } from '#hosts/config/api-group.ts';
import type { Config } from '#hosts/config/config.ts';
import { type InstanceFlags, isAboutDev, loadConfig } from '#hosts/config/configuration.ts';

export interface LockFlags extends InstanceFlags {
  readonly path?: string;
  readonly apiGroup?: string;
}

export interface Surroundings {
  readonly path: string;
  readonly apiGroup: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/**
 * Returns the settings. Options take precedence over the configuration. A configuration is read if an option names it.
 * Without `--config` and `--kubeconfig`, the configuration of `skep dev` is read if it exists in this folder.
 */
export async function findSurroundings(flags: LockFlags): Promise<Surroundings> {
  const hasSettings = flags.config !== undefined || (isAboutDev() && flags.kubeconfig === undefined);
  const config = hasSettings ? await loadConfig(flags) : undefined;
  const { kubeconfig, context } = config?.cluster ?? flags;
  return {
    path: flags.path ?? (config && workTreeOf(config)) ?? '.',
    apiGroup: flags.apiGroup ?? config?.apiGroup ?? DEFAULT_API_GROUP,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  };
}

/** Returns the manifest folder of the first source whose repository is on this machine. */
function workTreeOf({ sources }: Config): string | undefined {
  for (const { repository, path } of sources) {
    if (URL.parse(repository)?.protocol !== 'file:') continue;
    const folder = join(fileURLToPath(repository), path ?? '');
    if (existsSync(folder)) return relative(process.cwd(), folder) || '.';
  }
  return undefined;
}
