// Reads one server from an API response for the page. The response may contain any JSON values.

import { items, type Members, members, scalar, text, texts } from './json.ts';

const OFFICIAL_META = 'io.modelcontextprotocol.registry/official';
const PUBLISHER_PROVIDED = 'io.modelcontextprotocol.registry/publisher-provided';

export interface Entry {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly status: string;
  readonly statusMessage?: string;
  /** RFC 3339 time of the last change that the publisher or else the catalogue states. */
  readonly changedAt?: string;
  readonly publishedAt?: string;
  /** Stars of the repository. */
  readonly stars?: number;
  /** Pulls of the image. */
  readonly pulls?: number;
  readonly permissions?: Permissions;
  readonly oauth?: OAuth;
  readonly isLatest: boolean;
  readonly tier?: string;
  readonly tags: readonly string[];
  readonly overview?: string;
  readonly tools: readonly Tool[];
  readonly transports: readonly string[];
  readonly packages: readonly Package[];
  /** Arguments of the container, if the publisher states them. */
  readonly args: readonly string[];
  readonly remotes: readonly Remote[];
  readonly website?: string;
  readonly repository?: string;
}

/** Permissions of the container, if the publisher states them. */
export interface Permissions {
  /** Hosts that the container may reach. An empty list means no network. */
  readonly hosts: 'any' | readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly privileged: boolean;
}

/** The login that a remote requires. */
interface OAuth {
  readonly issuer?: string;
  readonly scopes: readonly string[];
}

export interface Tool {
  readonly name: string;
  readonly description?: string;
}

export interface Package {
  readonly registryType: string;
  readonly identifier: string;
  readonly version?: string;
  readonly transport: Remote;
  readonly environment: readonly Input[];
  readonly runtimeArguments: readonly Argument[];
  readonly packageArguments: readonly Argument[];
}

export interface Remote {
  readonly type: string;
  readonly url?: string;
  readonly headers: readonly Input[];
  readonly variables: readonly Input[];
}

/** A parameter with a fixed value or for a value from the reader. */
export interface Input {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly value?: string;
  readonly default?: string;
  readonly choices: readonly string[];
  /** Variables in braces within `value`. */
  readonly variables: readonly Input[];
}

export interface Argument extends Input {
  readonly named: boolean;
}

/** Reads a ServerResponse of the official API. */
export function readEntry(response: unknown): Entry {
  const { server, _meta } = members(response);
  const document = members(server);
  const official = members(members(_meta)[OFFICIAL_META]);
  const blocks = publisherBlocks(document);
  const packages = items(document.packages).map(readPackage);
  const remotes = items(document.remotes).map(readRemote);
  const name = text(document.name) ?? '';
  const metadata = Object.assign({}, ...blocks.map((block) => members(block.metadata))) as Members;
  return {
    name,
    version: text(document.version) ?? '',
    title: text(document.title) ?? lastSegment(name),
    description: text(document.description) ?? '',
    status: text(official.status) ?? 'active',
    isLatest: official.isLatest === true,
    tags: distinctValues(blocks.flatMap((block) => texts(block.tags))),
    tools: readTools(blocks),
    transports: distinctValues([
      ...packages.map(({ transport }) => transport.type),
      ...remotes.map(({ type }) => type),
    ]),
    packages,
    args: blocks.map((block) => texts(block.args)).find((args) => args.length > 0) ?? [],
    remotes,
    ...present('statusMessage', text(official.statusMessage)),
    ...present('changedAt', text(metadata.last_updated) ?? text(official.updatedAt)),
    ...present('publishedAt', text(official.publishedAt)),
    ...present('stars', readCount(metadata.stars)),
    ...present('pulls', readCount(metadata.pulls)),
    ...present('permissions', readPermissions(blocks)),
    ...present('oauth', readOAuth(blocks)),
    ...present('tier', first(blocks, 'tier')),
    ...present('overview', first(blocks, 'overview')),
    ...present('website', text(document.websiteUrl)),
    ...present('repository', text(members(document.repository).url)),
  };
}

export function lastSegment(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Returns the publisher's blocks, two levels deep under any vendor. The blocks contain tags, tier and tools. */
function publisherBlocks(document: Members): readonly Members[] {
  const vendors = Object.values(members(members(document._meta)[PUBLISHER_PROVIDED]));
  return vendors.flatMap((vendor) => Object.values(members(vendor)).map(members));
}

function readPermissions(blocks: readonly Members[]): Permissions | undefined {
  const [given] = blocks.flatMap(({ permissions }) => (permissions === undefined ? [] : [members(permissions)]));
  if (given === undefined) return undefined;
  const outbound = members(members(given.network).outbound);
  return {
    hosts: outbound.insecure_allow_all === true ? 'any' : texts(outbound.allow_host),
    read: texts(given.read),
    write: texts(given.write),
    privileged: given.privileged === true,
  };
}

function readOAuth(blocks: readonly Members[]): OAuth | undefined {
  const [given] = blocks.flatMap(({ oauth_config }) => (oauth_config === undefined ? [] : [members(oauth_config)]));
  if (given === undefined) return undefined;
  return { scopes: texts(given.scopes), ...present('issuer', text(given.issuer) ?? text(given.authorize_url)) };
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/**
 * Merges tools from lists of names and from definitions with descriptions. A tool with a name and a definition appears
 * once.
 */
function readTools(blocks: readonly Members[]): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const name of blocks.flatMap((block) => texts(block.tools))) tools.set(name, { name });
  for (const definition of blocks.flatMap((block) => items(block.tool_definitions)).map(members)) {
    const name = text(definition.name);
    if (name !== undefined) tools.set(name, { name, ...present('description', text(definition.description)) });
  }
  return [...tools.values()];
}

function readPackage(value: unknown): Package {
  const { registryType, identifier, version, transport, environmentVariables, runtimeArguments, packageArguments } =
    members(value);
  return {
    registryType: text(registryType) ?? '',
    identifier: text(identifier) ?? '',
    transport: readRemote(transport),
    environment: items(environmentVariables).map(readInput),
    runtimeArguments: items(runtimeArguments).map(readArgument),
    packageArguments: items(packageArguments).map(readArgument),
    ...present('version', text(version)),
  };
}

function readRemote(value: unknown): Remote {
  const { type, url, headers, variables } = members(value);
  return {
    type: text(type) ?? 'stdio',
    headers: items(headers).map(readInput),
    variables: readVariables(variables),
    ...present('url', text(url)),
  };
}

function readInput(value: unknown): Input {
  const input = members(value);
  return {
    name: text(input.name) ?? '',
    required: input.isRequired === true,
    secret: input.isSecret === true,
    choices: texts(input.choices),
    variables: readVariables(input.variables),
    ...present('description', text(input.description)),
    ...present('value', scalar(input.value)),
    ...present('default', scalar(input.default)),
  };
}

function readArgument(value: unknown): Argument {
  const { type, valueHint } = members(value);
  const input = readInput(value);
  const named = type === 'named';
  return { ...input, name: named ? input.name : (text(valueHint) ?? input.name), named };
}

function readVariables(value: unknown): readonly Input[] {
  return Object.entries(members(value)).map(([name, input]) => ({ ...readInput(input), name }));
}

function first(blocks: readonly Members[], name: string): string | undefined {
  return blocks.map((block) => text(block[name])).find((value) => value !== undefined);
}

function present<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: T });
}

function distinctValues(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
