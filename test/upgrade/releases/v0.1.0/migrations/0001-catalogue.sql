-- The catalogue: sources of registries, and every version of every server that a source holds.
-- Texts that are ordered or compared use the collation "C", so that pages follow code points on every server.

create table catalogue_source (
  id bigint generated always as identity primary key,
  namespace text collate "C" not null,
  registry text collate "C" not null,
  source text collate "C" not null,
  phase text not null check (phase in ('Syncing', 'Complete', 'Failed')),
  message text not null,
  last_attempt timestamptz,
  attempt_count integer not null check (attempt_count >= 0),
  last_sync_time timestamptz,
  last_sync_hash text,
  filter_hash text,
  declaration_hash text,
  server_count integer not null check (server_count >= 0),
  rejected_count integer not null check (rejected_count >= 0),
  manual_trigger text,
  -- Counts the transactions that changed what is served.
  revision bigint not null default 0,
  -- How many manual syncs were asked for, and how many of them the last attempt came after.
  requests bigint not null default 0,
  requests_served bigint not null default 0,
  -- Who syncs: the token of the one claim there is. By this server's clock: then the claim of a process that died is free.
  claim uuid,
  claimed_until timestamptz,
  -- Entity tags and times of the last read that was taken over.
  resume jsonb,
  -- Value of the sync-trigger annotation, left for a process that cannot see the annotation.
  wanted_trigger text,
  unique (namespace, registry, source)
);

create table catalogue_entry (
  source_id bigint not null references catalogue_source on delete cascade,
  name text collate "C" not null,
  version text collate "C" not null,
  -- json and not jsonb: it keeps the text, so members stay in the publisher's order; nothing searches inside.
  document json not null,
  title text,
  description text not null,
  tags text[] not null,
  status text not null check (status in ('active', 'deprecated', 'deleted')),
  -- Null: since it was published.
  status_changed_at timestamptz,
  status_message text,
  tier text,
  transports text[] not null,
  images text[] not null,
  -- What the upstream registry said; is_latest is what follows from all versions.
  upstream_latest boolean,
  is_latest boolean not null check (not (is_latest and status = 'deleted')),
  published_at timestamptz not null,
  -- Later than that of everything written before, so whoever asks for what is newer misses nothing.
  updated_at timestamptz not null,
  -- Of what is served, whatever the order of its members; and of its text, which is told at a fraction of the time.
  content_hash text not null,
  text_hash text not null,
  primary key (source_id, name, version)
)
-- Documents of the usual size stay in the row, unpacked: unpacking them took most of the time of reading a page.
with (toast_tuple_target = 8160);

create unique index catalogue_entry_latest on catalogue_entry (source_id, name) where is_latest;
create index catalogue_entry_updated on catalogue_entry (source_id, updated_at);
