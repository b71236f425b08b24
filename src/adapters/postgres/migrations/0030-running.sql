-- What reconcilers run, for those who read the catalogue.

create table catalogue_running (
  -- Where the servers are.
  namespace text collate "C" not null,
  -- The reconciler: its home namespace and name.
  home text collate "C" not null,
  instance text collate "C" not null,
  -- A list; json and not jsonb: nothing searches inside, and it takes any text.
  servers json not null,
  -- Rows are written again from time to time: one that is not is of a reconciler that no longer runs.
  written_at timestamptz not null default now(),
  primary key (namespace, home, instance)
);
