// Finds the lockable servers among the manifests in a folder, and their tool locks.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isToolLock, LOCKED_KINDS, type ToolLock } from '#contracts/tool-lock/schema.ts';
import { findManifestFolders } from '#hosts/config/repository.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { type Loaded, type LoadedResource, load } from '#reconciler/run/read/load.ts';
import { offeredServer } from '#reconciler/run/resolve/tool-locks.ts';
import { parseImageName } from '#std/address/image-name.ts';
import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { readFolders } from '../offline/folders.ts';

export interface LockableServer {
  readonly namespace: string;
  readonly name: string;
  /** Kind and image or URL of the server, as the lock contains them. */
  readonly server: ToolLock['server'];
  /** File of the lock, which may not exist yet. */
  readonly file: string;
  /** Lock of the server; absent if the lock does not exist yet. */
  readonly lock?: ToolLock;
}

/**
 * Returns the named servers or, if `names` is empty, all servers with a lock. Throws Failure `usage`, or
 * `lock-unreadable` for an unreadable lock.
 */
export async function findServers(
  folder: string,
  names: readonly string[],
  { apiGroup, environment }: { readonly apiGroup: string; readonly environment: NodeJS.ProcessEnv },
): Promise<readonly LockableServer[]> {
  const folders = await findManifestFolders(folder, environment);
  const { documents } = await readFolders(folders);
  const loaded = load({
    source: 'files',
    documents,
    kinds: KINDS,
    apiGroup,
    builtin: bundledSchema,
    foreign: 'unchecked',
  });
  const kinds: readonly string[] = LOCKED_KINDS;
  const found = loaded.resources.filter(({ kind, id }) => kind !== undefined && kinds.includes(id.kind));
  if (names.length === 0)
    return found.filter((each) => lockFor(loaded, each) !== undefined).map((each) => lockableServer(loaded, each));
  return names.map((name) => lockableServer(loaded, findNamed(found, name)));
}

function findNamed(found: readonly LoadedResource[], text: string): LoadedResource {
  const [name = '', namespace] = text.split('/').reverse();
  const all = found.filter(({ id }) => id.name === name && (namespace === undefined || id.namespace === namespace));
  const [first, second] = all;
  if (first === undefined) {
    const near = didYouMean(
      name,
      found.map(({ id }) => id.name),
    );
    throw new Failure('usage', `no manifest here declares a server ${text}.${near}`);
  }
  if (second !== undefined) throw new Failure('usage', `several servers are called ${text}: write namespace/${name}`);
  return first;
}

function lockFor({ locks }: Loaded, { id }: LoadedResource): LoadedResource | undefined {
  return locks.find((lock) => lock.id.name === id.name && lock.id.namespace === id.namespace);
}

function lockableServer(loaded: Loaded, resource: LoadedResource): LockableServer {
  const { namespace = '', name } = resource.id;
  const found = lockFor(loaded, resource);
  const file = found?.place('').file ?? join(dirname(resource.place('').file), `${name}.tools.yaml`);
  if (found === undefined && existsSync(file)) {
    throw new Failure(
      'lock-unreadable',
      `${file} exists and does not contain the lock of ${namespace}/${name}: rename it`,
    );
  }
  const lock = found === undefined ? {} : { lock: lockIn(loaded, found, file) };
  return { namespace, name, server: lockedPlace(resource), file, ...lock };
}

/**
 * Returns the lock in a file. Throws Failure `lock-unreadable` for an invalid lock, and for a file with other objects,
 * because the whole file will be overwritten.
 */
function lockIn({ invalid, problems }: Loaded, { id, object }: LoadedResource, file: string): ToolLock {
  const isBroken = invalid.some(
    (each) => each.kind === id.kind && each.name === id.name && each.namespace === id.namespace,
  );
  const problem = problems.find(({ resource }) => resource?.kind === id.kind && resource.name === id.name);
  if (isBroken)
    throw new Failure('lock-unreadable', `${file} cannot be used: ${problem?.message ?? 'skep validate shows why'}`);
  const inFile = readDocuments(readFileSync(file, 'utf8'), file);
  if (
    inFile.length !== 1 ||
    !inFile.every(
      ({ value }) => isObject(value) && isToolLock({ apiVersion: String(value.apiVersion), kind: String(value.kind) }),
    )
  ) {
    throw new Failure('lock-unreadable', `${file} contains more than one lock: move each lock to its own file`);
  }
  const spec: unknown = object.spec;
  return spec as ToolLock;
}

function lockedPlace(resource: LoadedResource): ToolLock['server'] {
  const { id, defaulted } = resource;
  const known = LOCKED_KINDS.find((each) => each === id.kind) ?? 'MCPServer';
  const server = offeredServer(resource);
  const url = isObject(defaulted?.spec) ? defaulted.spec.remoteUrl : undefined;
  if (server === undefined) return { kind: known, ...(typeof url === 'string' ? { url } : {}) };
  if (!('image' in server)) return { kind: known, url: server.url };
  const digest = parseImageName(server.image)?.digest;
  return { kind: known, image: server.image, ...(digest === undefined ? {} : { digest }) };
}
