// Tests that packs are received as by git, and that cost limits are never exceeded. In one file, because the tests
// share the functions that build packs by hand.

import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { createRepository, temporaryFolder } from '../../../../test/harness/git-server.ts';
import { OBJECT_BYTES, PACK_LIMITS } from './budget.ts';
import { entryHead } from './entry.ts';
import { openObjectStore } from './objects.ts';
import { receivePack } from './receive.ts';

const MIB = 1024 * 1024;
const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function folder(): string {
  const { path, remove } = temporaryFolder();
  cleanups.push(remove);
  return path;
}

function bare(): string {
  const gitdir = folder();
  execFileSync('git', ['init', '--quiet', '--bare', gitdir]);
  return gitdir;
}

function git(gitdir: string, args: readonly string[], input: string | Buffer = ''): Buffer {
  return execFileSync('git', ['--git-dir', gitdir, ...args], { input, maxBuffer: 1024 * MIB });
}

/** Creates a repository with versions of a few long files, which git stores as deltas of deltas. */
function history(commits = 30): string {
  const repository = createRepository(join(folder(), 'work'));
  const lines = Array.from({ length: 400 }, (_, line) => `line ${line}: ${(line * 7919) % 10_007}\n`);
  for (let round = 0; round < commits; round += 1) {
    const changed = lines.toSpliced(round * 7, 1, `changed in ${round}\n`).join('');
    repository.commit({ 'a.txt': changed, [`d${round % 5}/b.txt`]: `${round}\n${changed}`, empty: '' });
  }
  return join(repository.dir, '.git');
}

function packFiles(gitdir: string): { readonly pack: Buffer; readonly index: Buffer }[] {
  const packs = join(gitdir, 'objects/pack');
  return readdirSync(packs)
    .filter((name) => name.endsWith('.idx'))
    .map((name) => ({
      pack: readFileSync(join(packs, name.replace('.idx', '.pack'))),
      index: readFileSync(join(packs, name)),
    }));
}

test.each([
  { sort: 'deltas by distance', options: ['--delta-base-offset'] },
  { sort: 'deltas by name', options: [] },
  { sort: 'no deltas', options: ['--depth=0'] },
])('a pack gets the same index as from git: $sort', async ({ options }) => {
  const from = history();
  const pack = git(from, ['pack-objects', '--revs', '--stdout', '--quiet', ...options], 'HEAD\n');
  const [ours, theirs] = [bare(), bare()];
  await receivePack(ours, pack);
  git(theirs, ['index-pack', '--stdin'], pack);
  expect(packFiles(ours)).toEqual(packFiles(theirs));
  expect(packFiles(ours)).toHaveLength(1);
});

test('the missing bases are added to a thin pack', async () => {
  const from = history();
  const gitdir = bare();
  const pack = (revisions: string, ...options: string[]) =>
    git(from, ['pack-objects', '--revs', '--stdout', '--quiet', '--delta-base-offset', ...options], revisions);
  await receivePack(gitdir, pack('HEAD~10\n'));
  const thin = pack('HEAD\n^HEAD~10\n', '--thin');
  await receivePack(gitdir, thin);
  const tip = git(from, ['rev-parse', 'HEAD']).toString().trim();
  git(gitdir, ['update-ref', 'HEAD', tip]);
  git(gitdir, ['fsck', '--full', '--strict']);
  for (const name of readdirSync(join(gitdir, 'objects/pack')).filter((each) => each.endsWith('.idx')))
    git(gitdir, ['verify-pack', join(gitdir, 'objects/pack', name)]);
  const longer = packFiles(gitdir).find((each) => each.pack.subarray(12, 512).equals(thin.subarray(12, 512)));
  expect(longer?.pack.length).toBeGreaterThan(thin.length);
  const store = openObjectStore(join(gitdir, 'objects'), MIB);
  cleanups.push(() => store.close());
  for (const line of git(from, ['rev-list', '--objects', 'HEAD']).toString().trim().split('\n')) {
    const oid = line.slice(0, 40);
    const { type, content } = store.read(oid) ?? {};
    expect(content, line).toEqual(git(from, ['cat-file', type ?? '', oid]));
  }
});

test('a thin pack whose bases are missing is damaged, and no file remains', async () => {
  const from = history();
  const thin = git(from, ['pack-objects', '--revs', '--stdout', '--quiet', '--thin'], 'HEAD\n^HEAD~10\n');
  const gitdir = bare();
  expect(await outcomeOf(gitdir, thin)).toMatch(/^git-damaged: the pack from the server builds on [0-9a-f]{40}/);
  expect(packFiles(gitdir)).toEqual([]);
});

test('a pack without objects is not stored', async () => {
  const gitdir = bare();
  await receivePack(gitdir, packOf([]));
  expect(packFiles(gitdir)).toEqual([]);
});

async function outcomeOf(gitdir: string, pack: Buffer, limits = PACK_LIMITS): Promise<string> {
  try {
    await receivePack(gitdir, pack, limits);
    return 'taken';
  } catch (error) {
    return error instanceof Failure ? `${error.code}: ${error.message}` : String(error);
  }
}

/** Adds a header and a checksum to the entries. */
function packOf(entries: readonly Buffer[], count = entries.length): Buffer {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(count, 8);
  return withChecksum(Buffer.concat([header, ...entries]));
}

function withChecksum(body: Buffer): Buffer {
  return Buffer.concat([body, Buffer.from(hash('sha1', body), 'hex')]);
}

function blob(content: Buffer, announced = content.length): Buffer {
  return Buffer.concat([entryHead('blob', announced), deflateSync(content, { level: 1 })]);
}

/**
 * Returns a delta that copies the first 64 KiB of its base `times` times. The base is `distance` bytes earlier in the
 * pack.
 */
function copies(distance: number, baseSize: number, times: number): Buffer {
  const delta = Buffer.concat([sizeOf(baseSize), sizeOf(times * 65_536), Buffer.alloc(times, 0x80)]);
  return deltaOf(distance, delta);
}

function deltaOf(distance: number, delta: Buffer): Buffer {
  return Buffer.concat([headOf(6, delta.length), distanceOf(distance), deflateSync(delta)]);
}

function deltaOn(oid: string, delta: Buffer): Buffer {
  return Buffer.concat([headOf(7, delta.length), Buffer.from(oid, 'hex'), deflateSync(delta)]);
}

function headOf(kind: number, size: number): Buffer {
  const head = entryHead('blob', size);
  head.writeUInt8((head.readUInt8(0) & 0x8f) | (kind << 4), 0);
  return head;
}

/** Returns a delta that copies the first bytes of its base and appends `added`. */
function beginning(baseSize: number, copied: number, added = ''): Buffer {
  const copy = Buffer.from([0x90, copied]);
  const insert = added === '' ? [] : [added.length, ...Buffer.from(added)];
  return Buffer.concat([sizeOf(baseSize), sizeOf(copied + added.length), copy, Buffer.from(insert)]);
}

function blobName(content: Buffer): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
}

/** Encodes a number with seven bits per byte, least significant first. */
function sizeOf(size: number): Buffer {
  const bytes: number[] = [];
  let rest = size;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function distanceOf(distance: number): Buffer {
  const bytes = [distance & 0x7f];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift((rest & 0x7f) | 0x80);
  }
  return Buffer.from(bytes);
}

const ABC = blob(Buffer.from('abc'));

/** Returns an empty zlib stream with this number of blocks. */
function nothingIn(blocks: number): Buffer {
  const block = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const ending = Buffer.from([1, 0, 0, 0xff, 0xff, 0, 0, 0, 1]);
  return Buffer.concat([Buffer.from([0x78, 0x01]), ...Array.from({ length: blocks }, () => block), ending]);
}

const BYTE_BY_BYTE = Buffer.concat([sizeOf(3), sizeOf(2000), Buffer.alloc(4000, Buffer.from([1, 65]))]);

test.each([
  {
    reason: 'another file',
    pack: () => Buffer.from('<!doctype html>, and more than a header'),
    says: 'no pack of version 2',
  },
  { reason: 'too short', pack: () => Buffer.from('PACK'), says: 'no pack of version 2' },
  { reason: 'a flipped bit', pack: () => Buffer.from(packOf([ABC]).fill(7, 13, 14)), says: 'wrong checksum' },
  { reason: 'fewer objects than announced', pack: () => packOf([ABC], 2), says: 'RangeError' },
  { reason: 'more objects than announced', pack: () => packOf([ABC, ABC], 1), says: 'goes on after its last object' },
  { reason: 'a kind that there is not', pack: () => packOf([Buffer.from([0x50, 1])]), says: 'unknown kind 5' },
  {
    reason: 'no zlib',
    pack: () => packOf([Buffer.concat([entryHead('blob', 9), Buffer.alloc(9)])]),
    says: 'damaged zlib',
  },
  { reason: 'more than announced', pack: () => packOf([blob(Buffer.from('abc'), 2)]), says: 'damaged zlib' },
  {
    reason: 'less than announced',
    pack: () => packOf([blob(Buffer.from('abc'), 4)]),
    says: 'object of 3 bytes where 4',
  },
  { reason: 'a large one with more', pack: () => packOf([blob(Buffer.alloc(2 * MIB), MIB)]), says: 'announced bytes' },
  { reason: 'a large one with less', pack: () => packOf([blob(Buffer.alloc(MIB), 2 * MIB)]), says: 'announced bytes' },
  {
    reason: 'a size that is not a number',
    pack: () => packOf([Buffer.from([0xb0, ...Array.from({ length: 150 }, () => 0x80), 0])]),
    says: 'size without end',
  },
  {
    reason: 'a distance that is not a number',
    pack: () => packOf([Buffer.concat([headOf(6, 3), Buffer.alloc(150, 0x80)])]),
    says: 'distance without end',
  },
  {
    reason: 'nothing, at length',
    pack: () => packOf([Buffer.concat([entryHead('blob', 0), nothingIn(1000)])]),
    says: 'damaged zlib',
  },
  {
    reason: 'a delta that makes less than it takes',
    pack: () => packOf([ABC, deltaOf(ABC.length, BYTE_BY_BYTE)]),
    says: 'larger than its result',
  },
  {
    reason: 'a chain that readers would not follow',
    pack: () => {
      const link = (distance: number) => deltaOf(distance, beginning(3, 3));
      return packOf([ABC, link(ABC.length), ...Array.from({ length: 4096 }, () => link(link(1).length))]);
    },
    says: 'deltas without end',
  },
  { reason: 'before the pack', pack: () => packOf([ABC, deltaOf(4000, sizeOf(3))]), says: 'outside of the pack' },
  { reason: 'between two objects', pack: () => packOf([ABC, deltaOf(3, sizeOf(3))]), says: 'git-damaged' },
  { reason: 'a delta of another', pack: () => packOf([ABC, deltaOf(ABC.length, sizeOf(9))]), says: 'RangeError' },
])('a pack is refused, and no file remains: $reason', async ({ pack, says }) => {
  const gitdir = bare();
  expect(await outcomeOf(gitdir, pack())).toContain(says);
  expect(packFiles(gitdir)).toEqual([]);
});

test('a pack whose deltas form a cycle through an existing object is refused', async () => {
  const gitdir = bare();
  const [one, two] = [Buffer.from('one'), Buffer.from('one and two')];
  await receivePack(gitdir, packOf([blob(one)]));
  const circle = packOf([
    deltaOn(blobName(one), beginning(one.length, 3, ' and two')),
    deltaOn(blobName(two), beginning(two.length, 3)),
  ]);
  expect(await outcomeOf(gitdir, circle)).toContain('built on itself');
  expect(packFiles(gitdir)).toHaveLength(1);
});

test('a small object whose base exceeds the size limit is read', async () => {
  const gitdir = bare();
  const large = Buffer.alloc(65_536);
  const base = blob(large);
  await receivePack(gitdir, packOf([base, deltaOf(base.length, beginning(large.length, 3))]));
  const store = openObjectStore(join(gitdir, 'objects'), 1000);
  cleanups.push(() => store.close());
  expect(store.read(blobName(Buffer.alloc(3)))?.content).toEqual(Buffer.alloc(3));
  expect(() => store.read(blobName(large))).toThrow(/larger than 1000 bytes/);
});

test('a pack with any changed byte is refused, or its index matches the changed content', async () => {
  const from = history(4);
  const pack = git(from, ['pack-objects', '--revs', '--stdout', '--quiet', '--delta-base-offset'], 'HEAD\n');
  const body = pack.subarray(0, -20);
  for (let at = 0; at < body.length; at += 1) {
    const changed = Buffer.from(body);
    changed.writeUInt8(changed.readUInt8(at) ^ 0x55, at);
    const gitdir = folder();
    mkdirSync(join(gitdir, 'objects'));
    const outcome = await outcomeOf(gitdir, withChecksum(changed));
    if (outcome === 'taken')
      for (const { pack: taken } of packFiles(gitdir)) git(bare(), ['index-pack', '--stdin'], taken);
    else expect(outcome, `byte ${at}`).toMatch(/^(git-|Error|RangeError)/);
  }
});

test('a large file that is not a delta base is not kept in memory', async () => {
  const size = 256 * MIB;
  const pack = packOf([blob(Buffer.alloc(size)), ABC]);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 1);
  const gitdir = bare();
  await receivePack(gitdir, pack);
  clearInterval(watching);
  expect(most).toBeLessThan(size / 2);
  expect(
    git(gitdir, ['cat-file', '-s', blobName(Buffer.alloc(size))])
      .toString()
      .trim(),
  ).toBe(String(size));
});

test('the cost of a pack is limited: for all objects, for one delta, and for the objects in memory at the same time', async () => {
  const base = blob(Buffer.alloc(65_536));
  const waiting = copies(base.length, 65_536, 1);
  const first = copies(base.length + waiting.length, 65_536, 16);
  const second = copies(first.length, MIB, 16);
  const pack = packOf([base, waiting, first, second, copies(second.length, MIB, 16)]);
  const outcome = (limits: Partial<typeof PACK_LIMITS>) => outcomeOf(bare(), pack, { ...PACK_LIMITS, ...limits });
  expect(await outcome({})).toBe('taken');
  expect(await outcome({ totalBytes: 3 * MIB })).toMatch(/^git-too-large: the pack from the server /);
  expect(await outcome({ deltaBytes: MIB - 1 })).toMatch(/^git-too-large: a file that the server sent as a change /);
  expect(await outcome({ deltaBytes: 65_535 })).toMatch(/^git-too-large: a file that the server sent as a change /);
  expect(await outcome({ objects: 4 })).toBe('git-too-large: the pack from the server has more than 4 objects');
  expect(await outcome({ chainBytes: 2 * MIB + 65_535 })).toMatch(
    /^git-too-large: the data from which a file of the server is built /,
  );
  // Memory is needed for one object of the chain at a time and for the base of the waiting deltas.
  const alive = MIB + 65_536 + 2 * OBJECT_BYTES;
  expect(await outcome({ aliveBytes: alive })).toBe('taken');
  expect(await outcome({ aliveBytes: alive - 1 })).toMatch(
    /^git-too-large: the data on which changes of the server build /,
  );
});
