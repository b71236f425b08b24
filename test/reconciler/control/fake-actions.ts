// Actions with nothing behind them: they show given previews, and note what was carried out and by whom.

import type { ActionName, Actions, AuditEntry } from '#reconciler/control/ports.ts';
import { jsonOfWaiting } from '#reconciler/report/fleet.ts';
import type { RecentAction, WaitingState } from '#reconciler/run/fleet-state/waiting-format.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { EVIL } from './console-fleet.ts';

const HASH = '3f1c0b5e9a7d2468';

/** Something of everything, and hostile text in each place. */
function waitingState(): WaitingState {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  return {
    version: 1,
    run: { id: '0b6e2f6c-7f1e-4b86-9d0e-000000000002', at: since },
    paused: { by: 'suspension', who: `ops@${EVIL}`, since, reason: `moving the database ${EVIL}` },
    approvals: [
      {
        source: 'fleet',
        hash: HASH,
        reasons: ['3 deletions, more than apply.maxDeletes allows (2)'],
        deletions: [
          { id: 'ops/MCPServer/news' },
          { id: 'ops/StatefulSet/news', owner: 'ops/MCPServer/news' },
          { id: `Namespace/${EVIL}`, takes: [`2 Secrets of ${EVIL}`], mayTake: ['Widget.example.com'] },
        ],
      },
    ],
    approved: [{ source: 'platform', hash: 'aaaa', expiresAt: since, deletions: 2 }],
    rolledBack: [{ source: 'fleet', good: '41be9e2f07', bad: '77be9e2f07', run: '77aa3d10', since }],
    held: [{ resource: 'ops/MCPServer/calendar', reason: `its manifest is invalid ${EVIL}` }],
    sources: [{ source: 'fleet', for: 'platform', reason: 'it is not ready' }],
    omitted: 0,
  };
}

export interface FakeActions extends Actions {
  put(state: WaitingState): void;
  readonly entries: AuditEntry[];
  /** What was carried out: name, arguments, person. */
  readonly done: [name: ActionName, input: JsonObject, by: string][];
  /** Runs that were requested. */
  runs(): number;
}

export function fakeActions(first: WaitingState = waitingState()): FakeActions {
  let state = first;
  let runs = 0;
  const entries: AuditEntry[] = [];
  const done: FakeActions['done'] = [];
  const recent = () =>
    entries.map((entry): RecentAction => ({ at: new Date().toISOString(), ...entry, run: '0b6e2f6c' })).reverse();
  function shownFor(name: ActionName, { hash }: JsonObject): object | undefined {
    const list = state.approvals.find((each) => each.hash === hash);
    if (name === 'approve' && list === undefined) throw new Failure('approval-not-waiting', `no list ${hash} waits`);
    if (name === 'approve') return { list };
    const changes = [
      { action: 'update', resource: 'docs/MCPServer/wiki' },
      { action: 'delete', resource: `docs/MCPServer/${EVIL}`, waits: true },
    ];
    const commits = [{ source: EVIL, good: '41be9e2f07', bad: '9c1d0c5ad1' }];
    return name === 'rollback' ? { run: '77aa3d10', at: '2026-01-01T00:00:00Z', commits, changes } : undefined;
  }
  return {
    entries,
    done,
    runs: () => runs,
    put(next) {
      state = next;
    },
    waiting() {
      const text = jsonOfWaiting(state, recent());
      return { text, tag: String(entries.length) };
    },
    prepare: (name, input, use) =>
      use({
        concerns:
          name === 'approve' ? ['ops', 'ops', undefined] : name === 'trigger' ? [String(input.namespace)] : 'instance',
        about: typeof input.hash === 'string' ? input.hash : '',
        shown: shownFor(name, input),
        async carryOut(by) {
          done.push([name, input, by]);
          return {};
        },
      }),
    audit: (entry) => void entries.push(entry),
    runNow() {
      runs += 1;
    },
  };
}
