// Determines the state of one source after a run.

import { labelValue } from '../labels.ts';
import type { Gathered } from '../read/gather.ts';
import type { RunResult } from '../result.ts';
import type { StateWithReason } from './entry-state.ts';

export function sourceState(
  name: string,
  result: RunResult,
  { suspended }: Pick<Gathered, 'suspended'>,
): StateWithReason {
  const { commits, failures, quarantined, waits } = result;
  const commit = commits[name];
  const unread = failures.filter(({ code }) => code.startsWith('git-'));
  // A failure does not name its source. With several failures, the failure of this source is unknown.
  const [only, ...others] = unread;
  const reason = others.length === 0 ? only?.message : undefined;
  if (commit === undefined)
    return { state: 'failed', why: reason ?? 'It could not be read: the failures of the run say why.' };
  const pinned = quarantined.find(({ source }) => source === name);
  if (pinned !== undefined) return { state: 'kept', why: `A rollback keeps it at ${pinned.good.slice(0, 10)}.` };
  const wait = waits.find(({ source }) => source === name);
  if (wait !== undefined) return { state: 'kept', why: `It waits for source ${wait.for}: ${wait.reason}` };
  const suspension = suspended.get(labelValue(name));
  if (suspension !== undefined) return { state: 'failed', why: `Nothing of it is deleted: ${suspension}.` };
  return { state: 'healthy', why: `Read at ${commit.slice(0, 10)}.` };
}
