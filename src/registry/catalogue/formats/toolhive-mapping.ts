// Converts a server in ToolHive's format to a server.json, and back, without loss. Data without a field in server.json
// is stored in the publisher's block: `metadata.pulls`, and the `groups` of a server. A map key that differs from the
// end of the name is stored as `registry_key`.

import { PUBLISHER_PROVIDED, SERVER_SCHEMA } from '#contracts/server-document.ts';
import { isObject, type Json, type JsonObject, objectsIn } from '#std/json.ts';
import type { CatalogueEntry } from '../entry.ts';
import { PLATFORM_VENDOR } from '../entry.ts';
import { member, type ServerGroup } from './document.ts';
import type { ToolhiveContainer, ToolhiveRemote } from './schema.ts';

/** Version of all entries: ToolHive's format has no versions. */
export const VERSION = '1.0.0';

export type Section = 'servers' | 'remote_servers';

/** A server as a ToolHive file lists it. */
export interface ToolhiveItem {
  readonly section: Section;
  readonly key: string;
  readonly server: JsonObject;
  readonly groups: readonly ServerGroup[];
}

/** Returns the entry's own name, or its key. A name without a namespace gets ToolHive's namespace. */
export function serverName(key: string, name = key): string {
  return name.includes('/') ? name : `${PLATFORM_VENDOR}/${name}`;
}

export function documentOfContainer(
  key: string,
  server: ToolhiveContainer,
  groups: readonly ServerGroup[],
): JsonObject {
  const { image, transport = 'stdio', target_port, env_vars, ...rest } = server;
  const pkg = {
    registryType: 'oci',
    identifier: image,
    transport: packageTransport(transport, target_port),
    ...listMember('environmentVariables', (env_vars ?? []).map(toInput)),
  };
  // A stdio transport has no URL for the port.
  const kept = transport === 'stdio' && target_port !== undefined ? { ...rest, target_port } : rest;
  return toDocument(key, kept, { packages: [pkg] }, image, groups);
}

export function documentOfRemote(key: string, server: ToolhiveRemote, groups: readonly ServerGroup[]): JsonObject {
  const { url, transport, headers, ...rest } = server;
  const remote = { type: transport, url, ...listMember('headers', (headers ?? []).map(toInput)) };
  return toDocument(key, rest, { remotes: [remote] }, url, groups);
}

/** Converts an entry to ToolHive's format. Returns a reason if the format cannot represent the entry. */
export function toToolhive(entry: Pick<CatalogueEntry, 'document'>): ToolhiveItem | { readonly reason: string } {
  const { document } = entry;
  const packages = objectsIn(document.packages).filter((pkg) => pkg.registryType === 'oci');
  const [remote] = objectsIn(document.remotes);
  const [pkg] = packages;
  if (packages.length > 1) return { reason: 'it has more than one container image' };
  if (pkg !== undefined) return listed('servers', document, containerFields(pkg));
  if (remote !== undefined) return listed('remote_servers', document, remoteFields(remote));
  return { reason: 'it has neither a container image nor a remote' };
}

function toDocument(
  key: string,
  server: Omit<ToolhiveContainer, 'image'> | Omit<ToolhiveRemote, 'url' | 'transport'>,
  runs: JsonObject,
  block: string,
  groups: readonly ServerGroup[],
): JsonObject {
  const { name: ownName, title, description, repository_url, status = 'active', ...rest } = server;
  const name = serverName(key, ownName);
  const extension = {
    status,
    ...rest,
    registry_key: localName(name) === key ? undefined : key,
    ...listMember(
      'groups',
      groups.map((group) => ({ ...group })),
    ),
  };
  return {
    $schema: SERVER_SCHEMA,
    name,
    title,
    description,
    repository: repository_url === undefined ? undefined : { url: repository_url, source: 'github' },
    version: VERSION,
    ...runs,
    _meta: { [PUBLISHER_PROVIDED]: { [PLATFORM_VENDOR]: { [block]: extension } } },
  };
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function packageTransport(type: string, port: number | undefined): JsonObject {
  if (type === 'stdio') return { type };
  return { type, url: port === undefined ? 'http://localhost' : `http://localhost:${port}` };
}

type ToolhiveInput = NonNullable<ToolhiveContainer['env_vars']>[number];

/** Leaves out false and empty members. */
function toInput({ name, description, required, secret, default: fallback, choices }: ToolhiveInput): JsonObject {
  return {
    name,
    description: description || undefined,
    isRequired: required === true ? true : undefined,
    isSecret: secret === true ? true : undefined,
    default: fallback || undefined,
    ...listMember('choices', choices ?? []),
  };
}

function fromInput(input: JsonObject): JsonObject {
  const { name, description, isRequired, isSecret, default: fallback, choices } = input;
  return {
    ...defined({ name, description }),
    required: isRequired === true,
    ...(isSecret === true ? { secret: true } : {}),
    ...defined({ default: fallback, choices }),
  };
}

function containerFields(pkg: JsonObject): JsonObject {
  const transport = isObject(pkg.transport) ? pkg.transport : {};
  const port = typeof transport.url === 'string' ? portOf(transport.url) : 0;
  return {
    ...defined({ transport: transport.type, image: pkg.identifier }),
    ...(port > 0 ? { target_port: port } : {}),
    ...listMember('env_vars', objectsIn(pkg.environmentVariables).map(fromInput)),
    ...listMember('args', objectsIn(pkg.packageArguments).flatMap(flatArgument)),
  };
}

/** Returns the port in the URL. Replaces the scheme first, because `URL` drops the default port 80 of http. */
function portOf(url: string): number {
  const colon = url.indexOf(':');
  return Number(URL.parse(`port${url.slice(colon)}`)?.port ?? '');
}

function remoteFields(remote: JsonObject): JsonObject {
  return {
    ...defined({ transport: remote.type, url: remote.url }),
    ...listMember('headers', objectsIn(remote.headers).map(fromInput)),
  };
}

/** Returns name and value of a named argument, or the value of a positional argument. */
function flatArgument({ type, name, value }: JsonObject): string[] {
  return [type === 'named' ? name : undefined, value].filter((part) => typeof part === 'string');
}

function listed(section: Section, document: JsonObject, runs: JsonObject): ToolhiveItem {
  const { name, title, description, repository } = document;
  const { registry_key, groups, ...extension } = platformBlock(document);
  const own = typeof name === 'string' ? name : '';
  const key = typeof registry_key === 'string' ? registry_key : localName(own);
  const server = {
    name: own === serverName(key) ? undefined : own,
    ...defined({ title, description, repository_url: member(repository, 'url') }),
    ...extension,
    ...runs,
    ...(extension.status === undefined || extension.status === 'active' ? { status: 'Active' } : {}),
  };
  return { section, key, server, groups: objectsIn(groups).flatMap(toGroup) };
}

/** Returns the first block of ToolHive's vendor key. */
function platformBlock(document: JsonObject): JsonObject {
  const blocks = member(member(document._meta, PUBLISHER_PROVIDED), PLATFORM_VENDOR);
  const [first] = isObject(blocks) ? Object.values(blocks) : [];
  return isObject(first) ? first : {};
}

function toGroup({ name, description }: JsonObject): ServerGroup[] {
  return typeof name === 'string' ? [{ name, description: typeof description === 'string' ? description : '' }] : [];
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Returns an object with the list as its only member. Returns an empty object for an empty list. */
function listMember(key: string, items: Json[]): JsonObject {
  return items.length > 0 ? { [key]: items } : {};
}
