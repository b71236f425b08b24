// Opens the tools locks with which the virtual server itself compares its members' definitions, and reports definitions
// that differ.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { HeldLock } from '#contracts/tool-lock/held.ts';
import { formatLockReport, virtualReportName } from '#contracts/tool-lock/report.ts';
import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import { auditLine } from '#gateway/gate/audit.ts';
import { driftAuditEvent } from '#gateway/gate/audit-drift.ts';
import { createDrifts, type Drifted, type Drifts } from '#gateway/gate/tools-lock/drifts.ts';
import { type Lock, openLock } from '#gateway/gate/tools-lock/lock.ts';
import type { ProxyMetrics } from '#gateway/proxy/metrics.ts';
import type { Member } from '#gateway/virtual-server/members/member.ts';
import type { Environment } from '#std/environment.ts';
import { proxyClock } from '../proxy/clock.ts';
import { openReportWriter, reportOf } from '../proxy/lock-report.ts';
import type { VirtualAudit } from './audit.ts';

export interface MemberLocks {
  /** Returns a lock with which lists of a member are compared when they are read. */
  open(held: HeldLock): Lock;
  /** Reports only about these members from now on. */
  use(members: readonly Pick<Member, 'name' | 'lock'>[]): void;
  stop(): Promise<void>;
}

export interface MemberLocksOptions {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly metrics: Pick<ProxyMetrics, 'drifted'>;
  readonly audit: Pick<VirtualAudit, 'component' | 'keeps'> & { readonly write: (line: string) => void };
}

interface Watched {
  readonly held: HeldLock;
  readonly drifts: Drifts;
}

export function openMemberLocks({ environment, logger, metrics, audit }: MemberLocksOptions): MemberLocks {
  const { [VMCP_ENV.name]: server, [VMCP_ENV.namespace]: namespace } = environment;
  const opened = new WeakMap<Lock, Watched>();
  let watched: ReadonlyMap<string, Watched> = new Map();

  const writer = openReportWriter({ environment, logger }, () => {
    const read = [...watched].filter(([, { drifts }]) => drifts.isRead());
    if (server === undefined || namespace === undefined || read.length === 0) return undefined;
    const members = watched.size;
    const data = read.map(([member, { held, drifts }]) =>
      formatLockReport(reportOf(held, drifts), { member, members }),
    );
    return { name: virtualReportName(server), namespace, data: Object.assign({}, ...data) };
  });

  function changed(): void {
    for (const list of LOCKED_LIST_NAMES) {
      metrics.drifted(
        list,
        [...watched.values()].reduce((sum, { drifts }) => sum + drifts.count(list), 0),
      );
    }
    if (server !== undefined && [...watched.values()].some(({ drifts }) => drifts.isRead())) writer.request();
  }

  function record(held: HeldLock, { list, name, what }: Drifted): void {
    const component = audit.component();
    if (component === undefined || !audit.keeps('mcp_definition_drifted')) return;
    const place = { auditId: randomUUID(), timeMs: proxyClock.now(), component };
    const event = driftAuditEvent({ ...place, list, name, what, isHeld: held.mode === 'enforce' });
    audit.write(`${auditLine(event)}\n`);
  }

  return {
    open(held) {
      const drifts: Drifts = createDrifts({
        drifted: (drift) => record(held, drift),
        changed() {
          // Ignores a reading that began under an earlier lock.
          if ([...watched.values()].some((each) => each.drifts === drifts)) changed();
        },
      });
      const lock = watchLock(openLock(held), drifts);
      opened.set(lock, { held, drifts });
      return lock;
    },
    use(members) {
      watched = new Map(
        members.flatMap(({ name, lock }) => {
          const found = lock && opened.get(lock);
          return found === undefined ? [] : [[name, found] as const];
        }),
      );
      changed();
    },
    stop: writer.stop,
  };
}

function watchLock(lock: Lock, drifts: Drifts): Lock {
  return {
    ...lock,
    compare(list, name, definition) {
      const what = lock.compare(list, name, definition);
      // A list may contain a name twice, so it is known only at the end of the list whether a definition agrees.
      if (what !== 'agrees') drifts.observed({ list, name, what, definition });
      return what;
    },
    completed(list, { listed, differing }) {
      const names = lock.names(list);
      // An empty list is not evaluated, because a server may show an empty list to unknown callers.
      if (names === undefined || listed.size === 0) return;
      const reviewed = [...names.keys()];
      drifts.agreed(
        list,
        reviewed.filter((name) => listed.has(name) && !differing.has(name)),
      );
      drifts.completed(list, { listed, missing: reviewed.filter((name) => !listed.has(name)) });
    },
  };
}
