// Checks whether `skep dev` can start: it needs a free port, and a writable folder with enough space that no other
// `skep dev` uses.

import { chmod, mkdir, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { relative } from 'node:path';
import { type DirectoryLock, lockDirectory } from '#kubernetes/devcluster/storage/lock.ts';
import { Failure } from '#std/failure.ts';
import { checkStateFolder } from '../state-folder.ts';

const MIB = 1024 * 1024;
/** Required free space. A new database needs 60 MiB, and its log grows in steps of 16 MiB. */
const ROOM_BYTES = 128 * MIB;

const ELSEWHERE = 'Name another folder: skep dev --data DIR, or npm start -- --data DIR';

/**
 * Creates the folder if necessary, and locks it. Throws Failure `devcluster-locked`, `file-not-written` or
 * `state-folder-unsafe`.
 */
export async function claimFolder(dir: string, room = ROOM_BYTES): Promise<DirectoryLock> {
  const name = relative(process.cwd(), dir) || '.';
  await checkStateFolder(dir, { ownedByUser: true });
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await chmod(dir, 0o700);
    const { bavail, bsize } = await statfs(dir);
    if (bavail * bsize < room) {
      const [free, needed] = [bavail * bsize, room].map((bytes) => Math.floor(bytes / MIB));
      throw new Failure('file-not-written', `${name} has ${free} MiB free, and ${needed} MiB are needed. ${ELSEWHERE}`);
    }
    return await lockDirectory(dir);
  } catch (cause) {
    if (cause instanceof Failure && cause.code === 'devcluster-locked') {
      const other = `skep dev runs on ${name} already, as process ${cause.data.pid}`;
      const message = `${other}. Stop it, or start this one with its own folder and port: --data DIR --port N`;
      throw new Failure(cause.code, message, { data: cause.data, cause });
    }
    if (!(cause instanceof Error) || !('code' in cause) || cause instanceof Failure) throw cause;
    throw new Failure('file-not-written', `${name} cannot be written: ${cause.message}. ${ELSEWHERE}`, { cause });
  }
}

/** Throws Failure `listen-failed`. */
export async function checkPort(port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  }).catch((cause: NodeJS.ErrnoException) => {
    const what = cause.code === 'EADDRINUSE' ? 'is used by another process' : `cannot be listened on: ${cause.message}`;
    throw new Failure(
      'listen-failed',
      `port ${port} ${what}. Name another one: skep dev --port N, or npm start -- --port N`,
      { cause },
    );
  });
}
