-- Who syncs a source now, and what the next read of it begins with.

alter table catalogue_source
  -- Of the one claim there is; null: nobody syncs.
  add column claim uuid,
  -- By this server's clock: then the claim of a process that died is free.
  add column claimed_until timestamptz,
  -- Entity tags and times of the last read that was taken over.
  add column resume jsonb,
  -- Value of the sync-trigger annotation, left for a process that cannot see the annotation.
  add column wanted_trigger text;
