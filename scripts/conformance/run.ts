// Everything that the conformance suite judges: each mode of the proxy and of the virtual server, and clients before the
// proxy. Starts, asks, compares.

import { MODES, type Mode, type Revision, startMode, VIRTUAL_MODES } from '../../test/harness/mcp-modes.ts';
import { type Comparison, compareResults, readExpected } from './expected.ts';
import { runClientSuite, runLoginSuite, runServerSuite, type SuiteResults } from './suite.ts';

export interface ModeReport {
  readonly mode: string;
  readonly revision: string;
  readonly comparison: Comparison;
  readonly seconds: number;
}

/** Something that the suite judges, by the name of its list. */
export interface Subject {
  readonly name: string;
  readonly description: string;
  readonly revisions: readonly Revision[];
  /** Whose list it shares. */
  readonly list?: string;
  run(revision: Revision): Promise<SuiteResults>;
}

const CLIENT_REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28'];

export const SUBJECTS: readonly Subject[] = [
  ...[...MODES, ...VIRTUAL_MODES].map(
    (mode): Subject => ({
      name: mode.name,
      description: mode.description,
      revisions: mode.revisions,
      list: mode.list,
      run: (revision) => runServer(mode, revision),
    }),
  ),
  {
    name: 'client-direct',
    description: "the official clients with the suite's own servers",
    revisions: CLIENT_REVISIONS,
    run: (revision) => runClientSuite(revision, {}),
  },
  {
    name: 'client',
    description: "the official clients through the proxy with the suite's own servers",
    revisions: CLIENT_REVISIONS,
    run: (revision) => runClientSuite(revision, { CONFORMANCE_THROUGH: 'proxy' }),
  },
  {
    name: 'call',
    description: "skep call logs in at the suite's own authorization servers",
    revisions: CLIENT_REVISIONS,
    run: runLoginSuite,
  },
];

/** Each run has a server and a proxy of its own. */
async function runServer(mode: Mode, revision: Revision): Promise<SuiteResults> {
  const reached = await startMode(mode);
  try {
    return await runServerSuite(reached.url, revision);
  } finally {
    await reached.stop();
  }
}

export async function runSubject(subject: Subject, revisions: readonly Revision[]): Promise<readonly ModeReport[]> {
  const list = await readExpected(subject.list ?? subject.name);
  const reports: ModeReport[] = [];
  for (const revision of subject.revisions.filter((known) => revisions.includes(known))) {
    const start = performance.now();
    const due = list.filter((entry) => entry.revision === revision);
    const comparison = compareResults(await resultsOf(subject, revision), due);
    reports.push({ mode: subject.name, revision, comparison, seconds: (performance.now() - start) / 1000 });
  }
  return reports;
}

/** One that does not even start is a difference like others, and keeps none of them from the table. */
async function resultsOf(subject: Subject, revision: Revision): Promise<SuiteResults> {
  try {
    return await subject.run(revision);
  } catch (error) {
    return { checks: [], missing: [`everything (${error instanceof Error ? error.message : String(error)})`] };
  }
}
