// Finds the manifests and the cluster for `skep lock`. If its options name none, it reads settings, such as the
// settings of skep dev.

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
  /** Folder with the manifests. */
  readonly path: string;
  readonly apiGroup: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/**
 * Options take precedence over settings. Settings are used if an option names them, or if skep dev keeps them in this
 * folder.
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

/** Returns the folder of manifests of the first source that is a work tree on this machine. */
function workTreeOf({ sources }: Config): string | undefined {
  for (const { repository, path } of sources) {
    if (URL.parse(repository)?.protocol !== 'file:') continue;
    const folder = join(fileURLToPath(repository), path ?? '');
    if (existsSync(folder)) return relative(process.cwd(), folder) || '.';
  }
  return undefined;
}
