// Decides whether sync windows forbid a command to write. The option `--ignore-windows` overrides them.

import { Option } from 'commander';
import type { Paused } from '#reconciler/run/result.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';

export interface WindowFlags {
  readonly ignoreWindows?: boolean;
}

export function ignoreWindowsOption(): Option {
  return new Option('--ignore-windows', 'write also outside the sync windows');
}

export const PAUSED_HELP =
  '\nWhile the instance is suspended or outside its sync windows, nothing is written: it reports pending changes, and\n' +
  'exits with 2 if there are any.\n';

/**
 * Returns the run's option `paused`, if the sync windows forbid changes now. Loads the cron package only if windows are
 * configured.
 */
export async function findPauseNow(
  { windows }: Config,
  { ignoreWindows = false }: WindowFlags,
): Promise<{ readonly paused?: Paused }> {
  if (windows.length === 0 || ignoreWindows) return {};
  const { openWindows, pausedBy } = await import('../loop/windows.ts');
  return pausedBy(openWindows(windows), systemClock.now());
}
