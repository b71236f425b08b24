// Rolls sources back to the commits of an earlier run. The quarantine records which commits must not be applied. It is
// written before the first change, so that the next run completes the rollback if this process is killed.

import { Failure } from '#std/failure.ts';
import type { RunRecord } from '../history/ports.ts';
import type { InstanceName } from '../instance.ts';
import type { Clock, Cluster } from '../ports.ts';
import type { FleetSource } from '../read/gather.ts';
import { type Quarantined, readQuarantine, storeQuarantine } from '../records/quarantine.ts';

export interface RollbackDeps {
  readonly cluster: Pick<Cluster, 'get' | 'create' | 'replace'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly sources: readonly FleetSource[];
}

/** Maximum number of ancestors to request. People reset a branch by a few commits, not by hundreds. */
const OLDER_MAX = 500;

/**
 * Quarantines the current commits of sources that differ from the commits of the run `to`. Writes only if all commits
 * of that run are still available. If `confirmed` is set, writes only if exactly the confirmed commits would be
 * quarantined. Throws Failure `rollback-impossible` or `rollback-changed`, or the failure of reading a commit.
 */
export async function quarantine(
  deps: RollbackDeps,
  home: InstanceName,
  to: RunRecord,
  history: readonly RunRecord[],
  confirmed?: readonly Quarantined[],
): Promise<readonly Quarantined[]> {
  const current = await readQuarantine(deps.cluster, home);
  const made = await findDifferences(deps, to, history);
  if (confirmed !== undefined && commitsText(confirmed) !== commitsText(made)) {
    const message = 'a source names another commit than was shown; look again, and confirm the new commits';
    throw new Failure('rollback-changed', message);
  }
  const known = deps.sources.filter(({ name }) => to.commits[name] !== undefined);
  const goneBack = new Set(known.map(({ name }) => name));
  const others = [...current.entries.values()].filter(({ source }) => !goneBack.has(source));
  await storeQuarantine(deps.cluster, home, current, [...others, ...made]);
  return made;
}

function commitsText(entries: readonly Quarantined[]): string {
  return JSON.stringify(entries.map(({ source, good, bad, run }) => [source, good, bad, run]));
}

/** Returns the sources whose current commit differs from the commit of the run. Writes nothing. */
export async function findDifferences(
  deps: Pick<RollbackDeps, 'clock' | 'sources'>,
  to: RunRecord,
  history: readonly RunRecord[],
): Promise<readonly Quarantined[]> {
  const known = deps.sources.filter(({ name }) => to.commits[name] !== undefined);
  if (known.length === 0) {
    const message = `run ${to.id} read none of the sources that skep.yaml names: there is nothing to go back to`;
    throw new Failure('rollback-impossible', message);
  }
  const since = new Date(deps.clock.now()).toISOString();
  const entries = await Promise.all(
    known.map(async ({ name, repository }): Promise<Quarantined[]> => {
      const good = to.commits[name] ?? '';
      await repository.at(good);
      const bad = await namedNow(repository, name, history);
      const earlierCommits = commitsBefore(history, name, bad);
      return bad === good ? [] : [{ source: name, good, bad, older: earlierCommits, run: to.id, since }];
    }),
  );
  return entries.flat();
}

/**
 * Returns the commit that the source's ref names. If the Git server does not respond, returns the commit that the last
 * run read, so that a rollback is still possible.
 */
async function namedNow(
  repository: FleetSource['repository'],
  source: string,
  history: readonly RunRecord[],
): Promise<string> {
  try {
    return (await repository.fetch()).commit;
  } catch (error) {
    const last = history.find(({ commits }) => commits[source] !== undefined);
    const commit = last?.pinned.find((pin) => pin.source === source)?.bad ?? last?.commits[source];
    if (!(error instanceof Failure) || commit === undefined) throw error;
    return commit;
  }
}

/**
 * Returns the commits that runs applied before the first run with `bad`, newest first. `history` is sorted newest
 * first.
 */
function commitsBefore(history: readonly RunRecord[], source: string, bad: string): readonly string[] {
  const commits = history.flatMap(({ commits: each }) => each[source] ?? []);
  return [...new Set(commits.slice(commits.lastIndexOf(bad) + 1))].filter((commit) => commit !== bad);
}

/**
 * Adds the ancestors of the quarantined commits to the quarantine, because a branch may be reset to an ancestor.
 * Returns the failures. If the ancestors of a source cannot be read, its entry contains only commits of earlier runs.
 */
export async function learnOlder(
  deps: RollbackDeps,
  home: InstanceName,
  made: readonly Quarantined[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  const older = await Promise.all(
    made.map(async ({ source, bad }): Promise<[string, readonly string[]]> => {
      const repository = deps.sources.find(({ name }) => name === source)?.repository;
      try {
        return [source, (await repository?.ancestors(bad, OLDER_MAX)) ?? []];
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failures.push(error);
        return [source, []];
      }
    }),
  );
  const learned = new Map(older);
  const now = await readQuarantine(deps.cluster, home);
  const entries = [...now.entries.values()].map((entry): Quarantined => {
    const same = made.some(({ source, bad }) => source === entry.source && bad === entry.bad);
    return same ? { ...entry, older: [...new Set([...(learned.get(entry.source) ?? []), ...entry.older])] } : entry;
  });
  await storeQuarantine(deps.cluster, home, now, entries);
  return failures;
}
