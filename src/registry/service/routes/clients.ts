// Serves lists of a registry's servers for administrators of MCP clients, one JSON file per client.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LISTED_CLIENTS } from '#contracts/registry/listed-clients.ts';
import type { StoredEntry } from '../../catalogue/entry.ts';
import type { CatalogueReader, ListPosition, SourceKey } from '../../catalogue/ports.ts';
import { found, type ValueOrError } from '../answer.ts';
import { clientList } from '../client-lists.ts';
import { type ConditionalOptions, conditionalAnswers, type Load } from '../conditional.ts';
import { route } from '../route.ts';
import { CLIENTS_SCHEMA } from '../schemas.ts';

/** Administrators cannot review longer lists. */
const SERVERS_MAX = 2_000;

export function addClientRoutes(app: FastifyInstance, options: ConditionalOptions): void {
  const answering = conditionalAnswers(options);
  for (const base of ['/:registry', '/registry/:registry']) {
    route(app, `${base}/clients/:list`, answering(askClients), CLIENTS_SCHEMA);
  }
}

function askClients(request: FastifyRequest, key: SourceKey): ValueOrError<Load> {
  const { list = '' } = request.params as Readonly<Record<string, string>>;
  const client = LISTED_CLIENTS.find((name) => list === `${name}.json`);
  if (client === undefined) {
    const names = LISTED_CLIENTS.map((name) => `${name}.json`).join(', ');
    return refused('client-unknown', `there is no list of this name; the lists are ${names}`);
  }
  return found(async (catalogue) => {
    const entries = await readLatest(catalogue, key);
    if (entries === undefined) {
      return refused(
        'client-list-too-long',
        `the registry has more than ${SERVERS_MAX} servers: select fewer by its filter`,
      );
    }
    return found({ text: `${JSON.stringify(clientList(client, entries), undefined, 2)}\n` });
  });
}

/** Returns the latest versions. Returns undefined if the registry has too many servers. */
async function readLatest(catalogue: CatalogueReader, key: SourceKey): Promise<readonly StoredEntry[] | undefined> {
  const entries: StoredEntry[] = [];
  let after: ListPosition | undefined;
  do {
    const page = await catalogue.list(key, {
      limit: 100,
      version: 'latest',
      includeDeleted: false,
      ...(after && { after }),
    });
    entries.push(...page.entries);
    if (entries.length > SERVERS_MAX) return undefined;
    after = page.next;
  } while (after !== undefined);
  return entries;
}

function refused(code: 'client-unknown' | 'client-list-too-long', message: string) {
  return { ok: false, refused: { code, message } } as const;
}
