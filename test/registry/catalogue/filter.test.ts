// Which entries a filter keeps: the rules of filters, one row each.

import { describe, expect, test } from 'vitest';
import { entryFilter } from '#registry/catalogue/filter.ts';

interface Lists {
  readonly names?: { readonly include?: string[]; readonly exclude?: string[] };
  readonly tags?: { readonly include?: string[]; readonly exclude?: string[] };
}

function filterOf({ names, tags }: Lists) {
  return entryFilter({
    names: { include: names?.include ?? [], exclude: names?.exclude ?? [] },
    tags: { include: tags?.include ?? [], exclude: tags?.exclude ?? [] },
  });
}

describe('an entry named io.acme/clock-remote with the tags time and beta', () => {
  const entry = { name: 'io.acme/clock-remote', tags: ['time', 'beta'] };

  test.each<{ lists: Lists; kept: boolean; reason: string }>([
    { lists: {}, kept: true, reason: 'empty lists put no constraint' },
    { lists: { names: { include: ['io.acme/*'] } }, kept: true, reason: 'one include pattern matches' },
    { lists: { names: { include: ['io.other/*'] } }, kept: false, reason: 'no include pattern matches' },
    { lists: { names: { include: ['x', 'io.*'] } }, kept: true, reason: 'one of several include patterns is enough' },
    { lists: { names: { exclude: ['*-remote'] } }, kept: false, reason: 'patterns cross the slash' },
    { lists: { names: { exclude: ['clock-remote'] } }, kept: true, reason: 'patterns match the whole name' },
    { lists: { names: { include: ['*'], exclude: ['*clock*'] } }, kept: false, reason: 'exclude wins' },
    { lists: { tags: { include: ['time'] } }, kept: true, reason: 'one tag is included' },
    { lists: { tags: { include: ['Time'] } }, kept: false, reason: 'tags are case-sensitive' },
    { lists: { tags: { include: ['ti*'] } }, kept: false, reason: 'tags are no patterns' },
    { lists: { tags: { include: ['time'], exclude: ['beta'] } }, kept: false, reason: 'exclude wins among tags' },
    { lists: { names: { include: ['io.*'] }, tags: { include: ['x'] } }, kept: false, reason: 'both must pass' },
    { lists: { names: { exclude: ['['] } }, kept: false, reason: 'a malformed exclude pattern keeps everything out' },
    { lists: { names: { include: ['*', '['] } }, kept: false, reason: 'a malformed include pattern does so too' },
  ])('kept is $kept: $reason', ({ lists, kept }) => {
    expect(filterOf(lists).accepts(entry)).toBe(kept);
  });
});

test('an entry without tags fails a tag include and passes a tag exclude', () => {
  const entry = { name: 'io.acme/plain', tags: [] };
  expect(filterOf({ tags: { include: ['time'] } }).accepts(entry)).toBe(false);
  expect(filterOf({ tags: { exclude: ['time'] } }).accepts(entry)).toBe(true);
});

test('malformed patterns are named', () => {
  expect(filterOf({ names: { include: ['ok', '['], exclude: ['a\\'] } }).malformed).toEqual(['[', 'a\\']);
});
