// Builds lists of permitted servers for administrators of MCP clients, from the entries of a registry. The clients'
// vendors documented the formats in November 2026 (docs/registry.md names the pages).

import type { ListedClient } from '#contracts/registry/listed-clients.ts';
import { addressFault } from '#std/address/address.ts';
import type { JsonObject } from '#std/json.ts';
import type { StoredEntry } from '../catalogue/entry.ts';
import { configurationKey } from '../page/browser/configuration.ts';
import { type Entry, readEntry } from '../page/browser/entry.ts';
import { type Command, waysOf } from '../page/browser/launch.ts';
import type { Template } from '../page/browser/template.ts';

/** How all users reach or start a server: a URL, or a command with arguments. */
type FixedWay = { readonly serverUrl: string } | { readonly serverCommand: readonly string[] };

interface FixedServer {
  readonly name: string;
  readonly ways: readonly FixedWay[];
}

type ListMaker = (servers: readonly FixedServer[]) => JsonObject;

const MAKERS: Readonly<Record<ListedClient, ListMaker>> = {
  vscode: (servers) => ({ 'chat.mcp.allowedServers': matchers(servers) }),
  copilot: (servers) => ({ allowedMcpServers: matchers(servers) }),
  'claude-code': (servers) => ({ allowManagedMcpServersOnly: true, allowedMcpServers: matchers(servers) }),
  cursor: (servers) => ({ mcpServers: namedServers(servers) }),
};

/** Returns the list for a client. Leaves out servers that have no URL or command common to all users. */
export function clientList(client: ListedClient, entries: readonly StoredEntry[]): JsonObject {
  const servers = entries.map(({ document }) => fixedServer(readEntry({ server: JSON.parse(document) })));
  return MAKERS[client](servers.filter(({ ways }) => ways.length > 0));
}

function fixedServer(entry: Entry): FixedServer {
  const ways = waysOf(entry).flatMap(({ launch }): readonly FixedWay[] => {
    if (launch?.kind === 'command') return fixedCommand(launch.command);
    const serverUrl = launch === undefined ? undefined : fixedText(launch.url);
    return serverUrl === undefined || !isPlainAddress(serverUrl) ? [] : [{ serverUrl }];
  });
  return { name: entry.name, ways };
}

function fixedCommand({ program, args }: Command): readonly FixedWay[] {
  const texts = args.map(fixedText);
  return texts.includes(undefined) ? [] : [{ serverCommand: [program, ...texts.flatMap((text) => text ?? [])] }];
}

/** Returns the text. Returns undefined if a part of it is a value from the user. */
function fixedText(template: Template): string | undefined {
  return template.every((part) => typeof part === 'string') ? template.join('') : undefined;
}

/** Returns whether the URL contains no star, which clients read as a wildcard for all servers. */
function isPlainAddress(url: string): boolean {
  return addressFault('url', url) === undefined && !url.includes('*');
}

function matchers(servers: readonly FixedServer[]): JsonObject[] {
  const distinct = new Map(servers.flatMap(({ ways }) => ways.map((way) => [JSON.stringify(way), way])));
  return [...distinct.values()].map((way) =>
    'serverUrl' in way ? { serverUrl: way.serverUrl } : { serverCommand: [...way.serverCommand] },
  );
}

/** Names each server by the last part of its name. If two servers share this part, uses the whole names. */
function namedServers(servers: readonly FixedServer[]): JsonObject {
  const counts = new Map<string, number>();
  for (const { name } of servers) {
    const key = configurationKey(name);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const named = servers.flatMap(({ name, ways: [way] }): [string, JsonObject][] => {
    const key = configurationKey(name);
    return way === undefined ? [] : [[counts.get(key) === 1 ? key : name, settingsOf(way)]];
  });
  return Object.fromEntries(named);
}

function settingsOf(way: FixedWay): JsonObject {
  if ('serverUrl' in way) return { url: way.serverUrl };
  const [command = '', ...args] = way.serverCommand;
  return { command, args };
}
