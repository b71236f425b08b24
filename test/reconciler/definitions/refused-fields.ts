// Reads the table of fields that are refused from docs/migrating.md, so that the page and the comparison cannot differ.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../docs/migrating.md', import.meta.url);
const HEADING = '### Fields that are refused';

export interface RefusedFields {
  /** Paths of fields, in which `*` is any text. */
  readonly fields: readonly string[];
  readonly reason: string;
}

export function readRefusedFields(): readonly RefusedFields[] {
  const lines = readFileSync(PAGE, 'utf8').split('\n');
  const start = lines.indexOf(HEADING);
  assert(start !== -1, `docs/migrating.md has no heading "${HEADING}"`);
  const end = lines.findIndex((line, index) => index > start && line.startsWith('#'));
  const rows = lines.slice(start, end === -1 ? undefined : end).filter((line) => line.startsWith('| `'));
  return rows.map((row) => {
    const [, fields = '', reason = ''] = row.split(' | ').flatMap((cell, index) => (index === 0 ? ['', cell] : [cell]));
    assert(reason.trim() !== '', `a row of "${HEADING}" has no reason: ${row}`);
    return { fields: [...fields.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field), reason };
  });
}
