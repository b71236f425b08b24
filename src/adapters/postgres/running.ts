// Writes and reads the servers that reconcilers have deployed.

import type pg from 'pg';
import type { RunningServer } from '#contracts/running-servers.ts';
import type { Runner, RunningFound, SourceKey } from '#registry/catalogue/ports.ts';
import { REVISION } from './read.ts';
import { readRows } from './rows.ts';

type RegistryKey = Omit<SourceKey, 'source'>;

/**
 * Replaces the servers in a single statement, so that readers never see a partial state. Rewrites unchanged rows after
 * ten minutes, so that they do not expire.
 */
const WRITE = `with given as (select * from unnest($3::text[], $4::text[]) as g (namespace, servers)),
  gone as (
    delete from catalogue_running r
    where r.home = $1 and r.instance = $2 and ($5::text is null or r.namespace = $5) and r.namespace <> all ($3::text[])
  )
  insert into catalogue_running as r (home, instance, namespace, servers)
  select $1, $2, given.namespace, given.servers::json from given
  on conflict (namespace, home, instance) do update set servers = excluded.servers, written_at = excluded.written_at
  where r.servers::text <> excluded.servers::text or r.written_at < now() - interval '10 minutes'`;

export async function writeRunning(
  client: pg.Client,
  { homeNamespace, instance }: Runner,
  servers: readonly RunningServer[],
  namespace?: string,
): Promise<void> {
  const byNamespace = Map.groupBy(servers, (server) => server.namespace);
  const texts = [...byNamespace.values()].map((each) => JSON.stringify(each));
  await client.query(WRITE, [homeNamespace, instance, [...byNamespace.keys()], texts, namespace]);
}

/**
 * Entries that may describe one of the servers: entries with an image of a server, or with a URL of a server in their
 * text.
 */
const CANDIDATES = `select e.document from catalogue_entry e join catalogue_source s on s.id = e.source_id
  where s.namespace = $1 and s.registry = $2 and e.status <> 'deleted' and (e.images && $3::text[]
    or exists (select from unnest($4::text[]) as u (url) where strpos(e.document::text, u.url) > 0))`;

/**
 * Running servers, last written last, and the revisions of the registry's sources. Rows expire after two hours, because
 * a reconciler that was renamed, moved or removed no longer writes. A reconciler that runs every hour writes often
 * enough.
 */
const RUNNING = `select r.servers, (
    select string_agg(${REVISION}, ' ' order by s.id) from catalogue_source s where s.namespace = $1 and s.registry = $2
  ) as revisions from catalogue_running r where r.namespace = $1 and r.written_at > now() - interval '2 hours'
  order by r.written_at, r.home, r.instance`;

interface RunningRow {
  readonly servers: readonly RunningServer[];
  readonly revisions: string | null;
}

/** Returns a reader of running servers. It reads their entries again only if servers or entries have changed. */
export function createRunningReader(): (client: pg.Client, registry: RegistryKey) => Promise<RunningFound> {
  let last: { readonly key: string; readonly found: RunningFound } | undefined;
  return async (client, { namespace, registry }) => {
    const { rows } = await client.query<RunningRow>(RUNNING, [namespace, registry]);
    const key = JSON.stringify([namespace, registry, rows]);
    if (last?.key === key) return last.found;
    const servers = distinctServers(rows.flatMap((row) => row.servers));
    const images = servers.flatMap(({ image }) => image ?? []);
    // Quoted as in the text of a document.
    const urls = servers.flatMap(({ remoteUrl }) => (remoteUrl === undefined ? [] : [JSON.stringify(remoteUrl)]));
    const documents =
      servers.length === 0 ? [] : await readRows(client, 'candidates', CANDIDATES, [namespace, registry, images, urls]);
    const found = { servers, documents: documents.flatMap(([text]) => text ?? []) };
    last = { key, found };
    return found;
  };
}

/** Removes duplicates. If two reconcilers report a server, the last report is used. */
function distinctServers(servers: readonly RunningServer[]): readonly RunningServer[] {
  const byName = new Map(servers.map((server) => [server.name, server]));
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
