// The tool `search_catalogue` of `skep mcp`: searches the entries of all registries in the database of skep.yaml.

import type { Store } from '#adapters/postgres/store.ts';
import type { Config } from '#hosts/config/config.ts';
import { openDatabase } from '#hosts/database.ts';
import { listOf, record, TEXT, TIME } from '#reconciler/report/formats/json-schema-parts.ts';
import type { StoredEntry } from '#registry/catalogue/entry.ts';
import { extract } from '#registry/catalogue/entry.ts';
import type { SourceKey } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject, parseJson } from '#std/json.ts';
import { boundedSchema } from '../bounded.ts';
import { data, inputSchema, type McpTool, numberArgument, textArgument } from '../tool.ts';

const FOUND_SHOWN = 20;
const FOUND_MAX = 100;

const ENTRY = record(
  {
    registry: { type: 'string', description: 'NAMESPACE/MCPREGISTRY/REGISTRY, the last as in its URL.' },
    name: TEXT,
    version: TEXT,
    title: TEXT,
    description: TEXT,
    status: { enum: ['active', 'deprecated', 'deleted'] },
    tier: TEXT,
    tags: listOf(TEXT),
    transports: listOf(TEXT),
    updatedAt: TIME,
  },
  ['title', 'tier'],
);

export const SEARCH: McpTool = {
  name: 'search_catalogue',
  title: 'Search in the catalogue',
  description:
    'Finds MCP servers in the synced catalogue by words in their names, titles, descriptions, tags and tools. Descriptions are the words of the publishers.',
  inputSchema: inputSchema({
    query: {
      type: 'string',
      maxLength: 200,
      description: 'Words, all of which an entry must have; empty: all entries.',
    },
    registry: { type: 'string', maxLength: 300, description: 'Only entries of this registry, as results name it.' },
    limit: { type: 'integer', minimum: 1, maximum: FOUND_MAX, default: FOUND_SHOWN, description: 'Number of entries.' },
  }),
  outputSchema: boundedSchema(
    record({
      version: { const: 1 },
      servers: listOf(ENTRY),
      more: { type: 'boolean', description: 'Whether more entries match.' },
      registries: listOf(TEXT, 'Registries that were searched.'),
    }),
  ),
  async call({ config, args }) {
    const store = openCatalogue(config);
    try {
      const chosen = textArgument(args, 'registry');
      const keys = (await store.sources()).filter((key) => chosen === undefined || registryName(key) === chosen);
      if (chosen !== undefined && keys.length === 0)
        throw new Failure('mcp-arguments', `the catalogue has no registry "${chosen}"`);
      return data(
        await findEntries(store, keys, textArgument(args, 'query') ?? '', numberArgument(args, 'limit', FOUND_SHOWN)),
      );
    } finally {
      await store.close();
    }
  },
};

function openCatalogue({ catalogue }: Config): Store {
  if (catalogue === undefined)
    throw new Failure('catalogue-not-configured', 'skep.yaml names no database of a catalogue (catalogue.database)');
  const { migrationUser: _user, services: _services, ...app } = catalogue.database;
  return openDatabase(app);
}

async function findEntries(store: Store, keys: readonly SourceKey[], query: string, limit: number): Promise<object> {
  const search = query.trim() === '' ? {} : { search: query };
  const servers: object[] = [];
  let more = false;
  for (const key of keys) {
    // Requests one more entry than the result shows, within the page limit. If the additional entry exists, the result
    // says that more entries exist.
    const left = Math.min(limit - servers.length + 1, FOUND_MAX);
    const page = await store.list(key, { limit: left, version: 'latest', includeDeleted: false, ...search });
    const entries = page.entries.slice(0, limit - servers.length);
    more ||= page.next !== undefined || entries.length < page.entries.length;
    servers.push(...entries.map((entry) => jsonOfEntry(key, entry)));
    if (servers.length >= limit && more) break;
  }
  return { version: 1, servers, more, registries: keys.map(registryName) };
}

function registryName({ namespace, registry, source }: SourceKey): string {
  return `${namespace}/${registry}/${source}`;
}

function jsonOfEntry(key: SourceKey, { name, version, document, status, updatedAt }: StoredEntry): object {
  const parsed = parseJson(document);
  const { title, description, tier, tags, transports } = extract(isObject(parsed) ? parsed : {});
  return { registry: registryName(key), name, version, title, description, status, tier, tags, transports, updatedAt };
}
