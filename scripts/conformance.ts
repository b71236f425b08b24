// `npm run conformance [-- MODE...] [--requirements REVISION]`: the official conformance suite against the proxy in each of
// its modes, with an MCP server of our own behind it, and before the suite's own servers. Prints one table and fails where
// results differ from the committed lists.

import { parseArgs } from 'node:util';
import type { Revision } from '../test/harness/mcp-modes.ts';
import { isClean } from './conformance/expected.ts';
import { type ModeReport, runSubject, SUBJECTS } from './conformance/run.ts';
import { differences, reportTable } from './conformance/table.ts';

const REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28'];

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { requirements: { type: 'string', multiple: true } },
    allowPositionals: true,
  });
  const unknown = positionals.filter((name) => !SUBJECTS.some((subject) => subject.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`no mode ${unknown.join(', ')}: there are ${SUBJECTS.map(({ name }) => name).join(', ')}\n`);
    process.exitCode = 64;
    return;
  }
  const revisions = REVISIONS.filter((revision) => values.requirements?.includes(revision) ?? true);
  const reports: ModeReport[] = [];
  for (const subject of SUBJECTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    process.stderr.write(`${subject.name}: ${subject.description}\n`);
    reports.push(...(await runSubject(subject, revisions)));
  }
  process.stdout.write(reportTable(reports));
  process.stdout.write(differences(reports));
  if (!reports.every(({ comparison }) => isClean(comparison))) process.exitCode = 1;
}

await main();
