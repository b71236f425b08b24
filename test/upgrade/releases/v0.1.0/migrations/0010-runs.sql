-- The history of a reconciler's runs. Its name starts like the other tables', which is what the application user's
-- rights go by.

create table catalogue_run (
  number bigint generated always as identity,
  -- The reconciler: its home namespace and name.
  namespace text collate "C" not null,
  instance text collate "C" not null,
  -- json and not jsonb: nothing searches inside.
  record json not null,
  primary key (namespace, instance, number)
);
