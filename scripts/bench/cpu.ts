// How much processor time other processes have used, as Linux tells it: what a request costs, however busy the machine is.

import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second (USER_HZ), whatever its timer does. */
const TICK_MS = 10;

interface Usage {
  readonly parent: number;
  readonly ownMs: number;
  /** Of its children that are gone. */
  readonly goneMs: number;
}

/** Milliseconds of the process and all that it has started; undefined where the system does not tell. */
export function cpuMs(pid: number): number | undefined {
  const own = usageOf(pid);
  if (own === undefined) return undefined;
  const others = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  const children = others.map((name) => usageOf(Number(name))).filter((usage) => usage?.parent === pid);
  return [own, ...children].reduce((sum, usage) => sum + (usage?.ownMs ?? 0) + (usage?.goneMs ?? 0), 0);
}

/** Milliseconds of the process without what it has started; undefined where the system does not tell. */
export function ownCpuMs(pid: number): number | undefined {
  return usageOf(pid)?.ownMs;
}

function usageOf(pid: number): Usage | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // Ended meanwhile, or there is no /proc on this system.
    return undefined;
  }
  // proc(5): fields from the third on; the second one, in parentheses, may hold blanks.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, goneUser = 0, goneSystem = 0] = fields.slice(11, 15);
  return { parent: fields[1] ?? 0, ownMs: (user + system) * TICK_MS, goneMs: (goneUser + goneSystem) * TICK_MS };
}
