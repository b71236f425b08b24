-- What the catalogue is asked for beyond its first release.

alter table catalogue_source
  -- Of the content: another one with every change, also where a database that was restored counts its revisions again.
  add column edition uuid not null default gen_random_uuid(),
  -- Since when the source has been read as empty although it had entries; null: it is not, or that was taken over.
  add column empty_since timestamptz;

-- The latest version of a server of which every version is gone: who follows the latest versions sees it go.
alter table catalogue_entry add column was_latest boolean not null default false;

update catalogue_entry e set was_latest = true
from (
  select distinct on (source_id, name) source_id, name, version
  from catalogue_entry g
  where not exists (
    select from catalogue_entry l where l.source_id = g.source_id and l.name = g.name and l.is_latest
  )
  order by source_id, name, updated_at desc, published_at desc, version desc
) as gone
where e.source_id = gone.source_id and e.name = gone.name and e.version = gone.version;
