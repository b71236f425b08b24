// Finds texts by words with SQLite's FTS5 in memory. Words are compared by their stems, and results are ranked by BM25.

import { DatabaseSync } from 'node:sqlite';
import type { SearchedText, WordIndex } from '#gateway/virtual-server/optimizer/ports.ts';

/** Ranks a word in a name higher than a word in a description. */
const RANK = "INSERT INTO texts(texts, rank) VALUES ('rank', 'bm25(4.0, 1.0)')";

export function openWordIndex(texts: readonly SearchedText[]): WordIndex {
  const database = new DatabaseSync(':memory:');
  // The index does not store the texts themselves.
  database.exec(
    "CREATE VIRTUAL TABLE texts USING fts5(name, description, content='', tokenize='porter unicode61 remove_diacritics 2')",
  );
  database.exec(RANK);
  database.exec('BEGIN');
  const insert = database.prepare('INSERT INTO texts(rowid, name, description) VALUES (?, ?, ?)');
  for (const [position, { name, description }] of texts.entries()) insert.run(position, name, description);
  database.exec('COMMIT');
  const search = database.prepare('SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?');
  return {
    search(terms, limit) {
      if (terms.length === 0) return [];
      const match = terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR ');
      return search.all(match, limit).map(({ rowid }) => Number(rowid));
    },
  };
}
