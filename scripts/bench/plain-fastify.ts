// What one would write first: a Fastify handler that asks PostgreSQL for the page at each request and returns the rows. No
// tokens, no entity tags, no cursors. Sends its port, ends when it is disconnected.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import pg from 'pg';

const [address] = await once(process, 'message');
const pool = new pg.Pool({ ...(address as pg.PoolConfig), max: 10, ssl: false });
const app = Fastify();

app.get('/:source/v0.1/servers', async (request) => {
  const { source } = request.params as { readonly source: string };
  const { limit } = request.query as { readonly limit: string };
  const { rows } = await pool.query(
    `select e.document, e.status, e.is_latest, e.published_at, e.updated_at, e.status_changed_at
     from catalogue_entry e
     where e.source_id = (select id from catalogue_source where source = $1) and e.status <> 'deleted'
     order by e.name, e.version limit $2`,
    [source, Number(limit)],
  );
  return {
    servers: rows.map((row) => ({
      server: row.document,
      _meta: {
        'io.modelcontextprotocol.registry/official': {
          status: row.status,
          statusChangedAt: row.status_changed_at ?? row.published_at,
          publishedAt: row.published_at,
          updatedAt: row.updated_at,
          isLatest: row.is_latest,
        },
      },
    })),
    metadata: { count: rows.length },
  };
});

await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.((app.server.address() as AddressInfo).port);
process.once('disconnect', async () => {
  await app.close();
  await pool.end();
});
