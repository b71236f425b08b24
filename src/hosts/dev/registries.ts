// Starts the registry services of `skep dev`: one per MCPRegistry that the first run has rendered a configuration for, with that
// configuration, at an address and with a database of this machine.

import { REGISTRY_CONFIG_KEY, REGISTRY_CONFIG_SUFFIX } from '#contracts/registry/config-map.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import type { Config } from '../config/config.ts';
import { openDatabase } from '../database.ts';
import { createLogger } from '../log.ts';
import type { Instance } from '../reconciler/instance/instance.ts';
import { type Beside, type Service, startService } from '../registry/serve.ts';
import type { DevWorld } from './world.ts';

export interface DevRegistries {
  /** Where people read each service's catalogue. */
  readonly pages: readonly string[];
  /** Where each registry lists its servers. */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

interface Listening {
  /** Of the first service. */
  readonly port: number;
  /** True: each further one listens on the next port; else on any. */
  readonly inOrder: boolean;
  /** What else the first one serves. */
  readonly beside: Beside;
  /** What goes wrong in them. */
  readonly say: (text: string) => void;
}

export async function serveRegistries(
  instance: Instance,
  world: DevWorld,
  { port, inOrder, beside, say }: Listening,
): Promise<DevRegistries> {
  const configs = await readRenderedConfigs(instance, world.config);
  const store = openDatabase(world.appDatabase);
  // A wrong path in the address bar is shown in the browser, not on the terminal.
  const logger = createLogger('error', { isTTY: true, write: (line) => say(line.trimEnd()) });
  const services: Service[] = [];
  async function stop(): Promise<void> {
    await Promise.all(services.map((service) => service.stop()));
    await store.close();
  }
  try {
    for (const [index, config] of configs.entries()) {
      const listen = { host: '127.0.0.1', port: index === 0 || inOrder ? port + index : 0 };
      const { metrics: _metrics, ...served } = config;
      const others = index === 0 ? beside : undefined;
      services.push(await startService({ ...served, listen }, store, logger, { beside: others, readFile: refuseFile }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pages: services.map(({ url }) => `${url}/`),
    urls: services.flatMap(({ url }, index) =>
      (configs[index]?.registries ?? []).map(({ name }) => `${url}/${name}/v0.1/servers`),
    ),
    stop,
  };
}

/** A manifest may name any path, and the service would send the file to an address that the manifest names too. */
async function refuseFile(path: string): Promise<string> {
  throw new Failure('secret-file-unreadable', `${path} is not read: skep dev mounts no files for a registry`);
}

/** The configuration of each MCPRegistry that a run has rendered one for; a ConfigMap that no MCPRegistry owns is not one. */
export async function readRenderedConfigs(
  { deps }: Instance,
  { apiGroup }: Pick<Config, 'apiGroup'>,
): Promise<RegistryConfig[]> {
  const resources = await deps.cluster.resources();
  const find = (group: string, name: string) =>
    resources.find(({ apiVersion, kind }) => kind === name && groupOf(apiVersion) === group);
  const [configMaps, registries] = [find('', 'ConfigMap'), find(apiGroup, 'MCPRegistry')];
  if (configMaps === undefined || registries === undefined) return [];
  const owners = new Set((await deps.cluster.list(registries)).map(({ metadata }) => metadata.uid));
  const objects = await deps.cluster.list(configMaps);
  return objects
    .filter(({ metadata }) => metadata.name.endsWith(REGISTRY_CONFIG_SUFFIX))
    .filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ controller, uid }) => controller === true && owners.has(uid)),
    )
    .flatMap(({ metadata, data }) => {
      const text = isObject(data) ? data[REGISTRY_CONFIG_KEY] : undefined;
      return typeof text === 'string' ? [parseRegistryConfig(text, `${metadata.namespace}/${metadata.name}`)] : [];
    });
}

function parseRegistryConfig(text: string, file: string): RegistryConfig {
  const result = readRegistryConfig(text, file);
  if ('problems' in result) throw new Failure('config-invalid', result.problems.map(formatProblem).join('\n'));
  return result.config;
}
