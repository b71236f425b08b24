// Refuses a configuration that names the cluster of a `skep dev` with the same instance name. Each of the two instances
// would delete the other instance's objects.

import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { Failure } from '#std/failure.ts';
import type { Config } from './config.ts';
import { readConfig } from './read-config.ts';

/**
 * First line of the settings that `skep dev` writes next to its cluster. The line is a YAML comment; the settings below
 * are JSON.
 */
export const DEV_SETTINGS_HEAD = '# Written by skep dev at each start, for other commands: skep status -c FILE\n';

/**
 * Throws Failure `usage` if the kubeconfig belongs to a `skep dev` with the same instance name and another state
 * folder.
 */
export function refuseDevCluster({ name, stateDir, cluster }: Config, environment: NodeJS.ProcessEnv): void {
  const kubeconfig = cluster.kubeconfig ?? environment.KUBECONFIG?.split(delimiter)[0];
  if (kubeconfig === undefined || kubeconfig === '') return;
  const file = join(dirname(dirname(resolve(kubeconfig))), 'skep.yaml');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (!text.startsWith(DEV_SETTINGS_HEAD)) return;
  const dev = readConfig({ text, file, environment: {} });
  if (dev.name !== name || resolve(dev.stateDir) === resolve(stateDir)) return;
  const message = `the cluster of ${kubeconfig} belongs to skep dev, which is also named "${name}": each instance would delete the objects of the other`;
  const remedy = `Commit to a repository that skep dev follows, use -c ${file}, or give your skep.yaml another name`;
  throw new Failure('usage', `${message}. ${remedy}.`, { data: { kubeconfig, file } });
}
