// `npm run soak [-- --minutes N]`: `skep run` and `skep serve` for half an hour with a commit every 5 s and 100 reads a second.
// Prints what they held in the middle third and in the last one, and fails where something grew or an answer was wrong.
// `npm run soak -- virtual` does the same to `skep vmcp serve`, with 20 sessions a second.
//
//   --minutes N    how long (30)
//   --seed N       other commits and other reads
//   --keep FOLDER  logs and state stay in this new folder
//   --snapshots    heap snapshots there, too, at the end of each third: for finding out what grows

import { existsSync, mkdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compileTo } from './bench/compiled.ts';
import { withFolder } from './bench/folder.ts';
import { courses } from './soak/assess.ts';
import { createComplaints } from './soak/complaints.ts';
import { type SessionOptions, soak } from './soak/session.ts';
import { factsOf, linesOf } from './soak/tell.ts';
import { soakVirtual } from './soak/virtual.ts';

const USAGE = 'usage: npm run soak -- [virtual] [--minutes N] [--seed N] [--keep FOLDER [--snapshots]]\n';

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        minutes: { type: 'string', default: '30' },
        seed: { type: 'string', default: '20261121' },
        keep: { type: 'string' },
        snapshots: { type: 'boolean', default: false },
      },
    });
    return { ...values, what: positionals.join(' '), minutes: Number(values.minutes), seed: Number(values.seed) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${USAGE}`);
    process.exit(64);
  }
}

const { what, minutes, seed, keep, snapshots } = readOptions();

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

async function main(folder: string): Promise<void> {
  say(
    `${minutes} minutes, seed ${seed}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
  );
  const complaints = createComplaints();
  const program = await compileTo(folder);
  const options = { minutes, folder, program, snapshots, complaints, say };
  const { watched, facts } = what === 'virtual' ? await soakVirtual(options) : await soakReconciler(options);
  process.stdout.write(linesOf(watched, facts));
  const broken = watched.flatMap(courses).flatMap((course) => course.broken ?? []);
  const wrong = [...broken, ...complaints.first];
  const count = [...complaints.counts.values()].reduce((sum, each) => sum + each, 0);
  process.stdout.write(`${broken.length} bounds broken, ${count} errors\n`);
  for (const each of wrong) process.stdout.write(`  ${each}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

async function soakReconciler(options: Omit<SessionOptions, 'seed'>) {
  const soaked = await soak({ ...options, seed });
  return { watched: soaked.watched, facts: factsOf(soaked) };
}

if (!existsSync('/proc/self/status')) {
  process.stderr.write('the soak needs Linux: it reads /proc\n');
  process.exitCode = 64;
} else if (!['', 'virtual'].includes(what) || !(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write(USAGE);
  process.exitCode = 64;
} else if (keep === undefined) {
  await withFolder(main);
} else {
  mkdirSync(keep);
  await main(resolve(keep));
}
