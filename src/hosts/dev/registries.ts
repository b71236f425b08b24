// Runs the registry services of `skep dev`, one for each MCPRegistry whose configuration a run has rendered. If no
// MCPRegistry has the main port, a service without registries serves the page of the servers at this port.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { REGISTRY_CONFIG_KEY, REGISTRY_CONFIG_SUFFIX } from '#contracts/registry/config-map.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { type RegistryConfig, settleConfig } from '#contracts/registry/service.ts';
import { groupOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import type { Config } from '../config/config.ts';
import { openDatabase } from '../database.ts';
import { createLogger } from '../log.ts';
import type { Instance } from '../reconciler/instance/instance.ts';
import { type Service, startService } from '../registry/serve.ts';
import { assignSlots, readSlots, writeSlots } from './slots.ts';
import type { DevWorld } from './world.ts';

export interface DevRegistries {
  /** URLs of the services' pages. The first page is at the main port. */
  pages(): readonly string[];
  /** URLs of the registries' lists of servers. */
  urls(): readonly string[];
  /**
   * Starts services of new registries, restarts services of changed registries, and stops services of deleted
   * registries. If registries cannot be served, serves all others and then throws a Failure that names them.
   */
  follow(): Promise<void>;
  /** Responds to a request at the main port. */
  serve(request: IncomingMessage, response: ServerResponse): void;
  stop(): Promise<void>;
}

interface Listening {
  /** Origin of the main port, whose listener belongs to the caller. */
  readonly origin: string;
  /** If true, further services listen on the ports after the main port. If false, they listen on any free ports. */
  readonly inOrder: boolean;
  readonly say: (text: string) => void;
}

interface Served {
  /** JSON of the service's configuration, to detect changes. */
  readonly text: string;
  readonly slot: number;
  readonly service: Service;
  readonly urls: readonly string[];
}

export async function openRegistries(
  instance: Instance,
  world: DevWorld,
  { origin, inOrder, say }: Listening,
): Promise<DevRegistries> {
  const slotsFile = join(world.dir, 'registries.json');
  let slots = await readSlots(slotsFile);
  const store = openDatabase(world.appDatabase);
  // Prints only errors: the browser already shows that a URL is wrong.
  const logger = createLogger('error', { isTTY: true, write: (line) => say(line.trimEnd()) });
  const served = new Map<string, Served>();
  const bare = await startService(BARE, store, logger, { within: origin, readFile: refuseFile });

  async function start(config: RegistryConfig, slot: number, text: string): Promise<Served> {
    const port = inOrder ? Number(new URL(origin).port) + slot : 0;
    const { metrics: _metrics, ...rest } = config;
    const within = slot === 0 ? origin : undefined;
    const listen = { host: '127.0.0.1', port };
    const service = await startService({ ...rest, listen }, store, logger, { within, readFile: refuseFile });
    const urls = config.registries.map(({ name }) => `${service.url}/${name}/v0.1/servers`);
    return { text, slot, service, urls };
  }

  async function follow(): Promise<void> {
    const read = await readRenderedConfigs(instance, world.config);
    const configs = new Map(read.map((config) => [`${config.namespace}/${config.registryName}`, config]));
    const assigned = assignSlots(slots, [...configs.keys()]);
    if (assigned.join() !== slots.join()) await writeSlots(slotsFile, assigned);
    slots = assigned;
    for (const [id, { text, service }] of served) {
      if (text === JSON.stringify(configs.get(id))) continue;
      served.delete(id);
      await service.stop();
    }
    const failures: Failure[] = [];
    for (const [slot, id] of slots.entries()) {
      const config = configs.get(id);
      if (config === undefined || served.has(id)) continue;
      try {
        served.set(id, await start(config, slot, JSON.stringify(config)));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failures.push(notServed(id, error));
      }
    }
    const [first, ...others] = failures;
    if (first !== undefined) throw withOthers(first, others);
  }

  const inTurn = () => [...served.values()].sort((a, b) => a.slot - b.slot);
  return {
    pages: () => {
      const others = inTurn().filter(({ slot }) => slot !== 0);
      return [`${origin}${CATALOGUE_PATH}`, ...others.map(({ service }) => `${service.url}/`)];
    },
    urls: () => inTurn().flatMap(({ urls }) => urls),
    follow,
    serve(request, response) {
      const [path, ...query] = (request.url ?? '').split('?');
      if (path === CATALOGUE_PATH) request.url = ['/', ...query].join('?');
      const main = inTurn().find(({ slot }) => slot === 0);
      (main?.service ?? bare).handle(request, response);
    },
    async stop() {
      await Promise.all([bare, ...[...served.values()].map(({ service }) => service)].map((each) => each.stop()));
      await store.close();
    },
  };
}

/** Path of a registry service's page at the main port. The service itself has the page at its root. */
export const CATALOGUE_PATH = '/catalogue';

/** Configuration of the service at the main port if no MCPRegistry has the port. */
const BARE = settleConfig({ registries: [], auth: { mode: 'anonymous' } });

function notServed(id: string, cause: Failure): Failure {
  const remedy = cause.code === 'listen-failed' ? ': free the port, or start skep dev with another --port' : '';
  return new Failure(cause.code, `MCPRegistry ${id} is not served: ${cause.message}${remedy}`, { cause });
}

function withOthers(first: Failure, others: readonly Failure[]): Failure {
  return new Failure(first.code, [first, ...others].map(({ message }) => message).join('\n'), { cause: first });
}

/**
 * Refuses every file. A manifest may name any path, and the service would send the file's content to a URL in the same
 * manifest.
 */
async function refuseFile(path: string): Promise<string> {
  throw new Failure('secret-file-unreadable', `${path} cannot be read: skep dev mounts no files for a registry`);
}

/** Returns the configurations that runs have rendered. Ignores ConfigMaps that no MCPRegistry owns. */
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
