-- A substring search that need not look at every row, without an extension that somebody would have to install.

-- What is stored can be read again from its sources, and only then has its grams.
delete from catalogue_source;

alter table catalogue_entry
  -- A number for every three characters in a row of the search text.
  add column grams integer[] not null;

create index catalogue_entry_grams on catalogue_entry using gin (grams);
