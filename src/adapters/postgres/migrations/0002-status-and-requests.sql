-- What the official API tells of a status, and syncs that clients asked for.

alter table catalogue_entry
  -- Null: since it was published.
  add column status_changed_at timestamptz,
  add column status_message text;

alter table catalogue_source
  -- How many manual syncs were asked for, and how many of them the last attempt came after.
  add column requests bigint not null default 0,
  add column requests_served bigint not null default 0;
