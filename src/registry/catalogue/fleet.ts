// Stores the running servers that request a listing as entries of a registry source.

import assert from 'node:assert/strict';
import type { SourceState } from '#contracts/catalogue-state.ts';
import type { FleetOrigin, RegistrySource } from '#contracts/registry/source.ts';
import type { CatalogueListing, ListedServer } from '#contracts/running-servers.ts';
import { PUBLISHER_PROVIDED, SERVER_SCHEMA } from '#contracts/server-document.ts';
import { sha256 } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { declarationHash } from './due.ts';
import { PLATFORM_VENDOR } from './entry.ts';
import { parseDocuments } from './formats/registry.ts';
import type { CatalogueWriter, SourceKey, WriteCounts } from './ports.ts';
import { syncedState, timeOf } from './sync-state.ts';

/** Key in `_meta` for the readiness of a running server. */
const RUNNING_META = 'dev.skep/running';

export interface FleetRegistry {
  readonly key: SourceKey;
  readonly source: RegistrySource & { readonly origin: FleetOrigin };
  readonly writer: CatalogueWriter;
  /** State in the store at the beginning of the run. */
  readonly state: SourceState | undefined;
}

/** Stores the entries of the servers as the whole content of the source. Writes nothing if the content is unchanged. */
export async function storeFleet(
  { key, source, writer, state }: FleetRegistry,
  servers: readonly ListedServer[],
  now: () => number,
): Promise<void> {
  const text = JSON.stringify({ servers: fleetDocuments(servers, source.origin) });
  const hash = sha256(text);
  if (isStored(state, source, hash)) return;
  const content = { documents: [{ text, location: 'servers that run' }], extent: 'whole' } as const;
  const parsed = parseDocuments('upstream', content.documents);
  assert(parsed.ok, 'documents of our own are a list of servers');
  const { entries, rejected } = parsed;
  const claim = await writer.claim(key);
  if (claim === undefined) return;
  const attempt = { source, state: claim.state, trigger: undefined, now: now() };
  const stateOf = (written: WriteCounts) =>
    syncedState(attempt, content, { entries, written, hash, rejected: rejected.length });
  try {
    await claim.replace(key, entries, stateOf, () => timeOf(now()));
  } finally {
    // No effect if `replace` has already ended the claim.
    await claim.release();
  }
}

function isStored(state: SourceState | undefined, source: RegistrySource, hash: string): boolean {
  return (
    state?.phase === 'Complete' && state.lastSyncHash === hash && state.declarationHash === declarationHash(source)
  );
}

/**
 * Returns the server.json documents of the servers in the namespaces. If several servers have the same name, returns
 * only the document of the first.
 */
function fleetDocuments(
  servers: readonly ListedServer[],
  { namespaces }: Pick<FleetOrigin, 'namespaces'>,
): readonly JsonObject[] {
  const documents = new Map<string, JsonObject>();
  for (const server of servers) {
    const { listing, namespace } = server;
    if (listing === undefined || (namespaces !== 'all' && !namespaces.includes(namespace))) continue;
    const document = listedDocument(server, listing);
    if (!documents.has(String(document.name))) documents.set(String(document.name), document);
  }
  return [...documents.values()];
}

function listedDocument({ namespace, name, ...server }: ListedServer, listing: CatalogueListing): JsonObject {
  const { kind, uid, title, description, version = '1.0.0', tools } = listing;
  const url = listing.url ?? server.url;
  const { image, transport, ready } = server;
  const block = { status: 'active', ...(tools && { tools: [...tools] }) };
  const metadata = { kubernetes: { kind, namespace, name, ...(uid && { uid }), ...(image && { image }), transport } };
  return {
    $schema: SERVER_SCHEMA,
    name: `com.toolhive.k8s.${namespace}/${name}`,
    ...(title && { title }),
    description: description ?? `${kind} ${name} of the namespace ${namespace}`.slice(0, 100),
    version,
    remotes: [{ type: transport, url }],
    _meta: {
      [PUBLISHER_PROVIDED]: { [PLATFORM_VENDOR]: { [url]: { ...block, metadata } } },
      [RUNNING_META]: { ready },
    },
  };
}
