// `npm run soak [-- --minutes N]`: `skep run` and `skep serve` for half an hour with a commit every 5 s and 100 reads a second.
// Prints what they held in the middle third and in the last one, and fails where something grew or an answer was wrong.
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
import { createComplaints } from './soak/complaints.ts';
import { courses } from './soak/judge.ts';
import { soak } from './soak/session.ts';
import { linesOf } from './soak/tell.ts';

const USAGE = 'usage: npm run soak -- [--minutes N] [--seed N] [--keep FOLDER [--snapshots]]\n';

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '30' },
        seed: { type: 'string', default: '20261121' },
        keep: { type: 'string' },
        snapshots: { type: 'boolean', default: false },
      },
    });
    return { ...values, minutes: Number(values.minutes), seed: Number(values.seed) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${USAGE}`);
    process.exit(64);
  }
}

const { minutes, seed, keep, snapshots } = readOptions();

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

async function main(folder: string): Promise<void> {
  say(
    `${minutes} minutes, seed ${seed}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
  );
  const complaints = createComplaints();
  const program = await compileTo(folder);
  const soaked = await soak({ minutes, seed, folder, program, snapshots, complaints, say });
  process.stdout.write(linesOf(soaked));
  const broken = soaked.watched.flatMap(courses).flatMap((course) => course.broken ?? []);
  const wrong = [...broken, ...complaints.first];
  const count = [...complaints.counts.values()].reduce((sum, each) => sum + each, 0);
  process.stdout.write(`${broken.length} bounds broken, ${count} errors\n`);
  for (const each of wrong) process.stdout.write(`  ${each}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

if (!existsSync('/proc/self/status')) {
  process.stderr.write('the soak needs Linux: it reads /proc\n');
  process.exitCode = 64;
} else if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write(USAGE);
  process.exitCode = 64;
} else if (keep === undefined) {
  await withFolder(main);
} else {
  mkdirSync(keep);
  await main(resolve(keep));
}
