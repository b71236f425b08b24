// `npm run bench [section...]`: what the program costs beside a bare version of the same work, on this machine, in this run.
// Starts one process per section and prints one table.

import { fork } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { compileTo, imageAllocator } from './bench/compiled.ts';
import { withFolder } from './bench/folder.ts';
import { isSection, LARGE_SECTIONS, runSection, SECTIONS, type SectionName } from './bench/sections.ts';
import { type Report, tableOf } from './bench/table.ts';

/** A section that hangs is broken. */
const SECTION_TIMEOUT_MS = 900_000;

async function main(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !isSection(name));
  if (unknown.length > 0) {
    process.stderr.write(
      `no section ${unknown.join(', ')}: there are ${[...SECTIONS, ...LARGE_SECTIONS].join(', ')}\n`,
    );
    process.exitCode = 64;
    return;
  }
  const chosen = names.length === 0 ? SECTIONS : names.filter(isSection);
  const reports: Report[] = [];
  process.stderr.write(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}\n`);
  await withFolder(async (folder) => {
    const program = await compileTo(folder);
    for (const name of chosen) {
      const start = performance.now();
      const report = await runApart(name, program);
      process.stderr.write(`${name}: ${Math.round((performance.now() - start) / 1000)} s\n`);
      if (report === undefined) process.exitCode = 1;
      else reports.push(report);
    }
  });
  process.stdout.write(tableOf(reports));
}

/** In a process of its own, so that no section runs in the heap of another. Undefined where it failed. */
function runApart(name: SectionName, program: string): Promise<Report | undefined> {
  return new Promise((resolve) => {
    let report: Report | undefined;
    const env = { ...process.env, ...imageAllocator() };
    const child = fork(import.meta.filename, ['--section', name, program], { execArgv: ['--expose-gc'], env });
    const late = setTimeout(() => child.kill(), SECTION_TIMEOUT_MS);
    child.on('message', (message) => {
      report = message as Report;
    });
    child.on('exit', (status) => {
      clearTimeout(late);
      if (status !== 0) process.stderr.write(`${name}: ended with status ${status}\n`);
      resolve(status === 0 ? report : undefined);
    });
  });
}

const [flag, name = '', program = ''] = process.argv.slice(2);
if (flag === '--section' && isSection(name)) {
  const report = await withFolder((folder) => runSection(name, { folder, program }));
  process.send?.(report);
  process.disconnect?.();
} else {
  await main(process.argv.slice(2));
}
