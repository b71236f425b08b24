// Decides whether sync windows keep a command from writing, unless `--ignore-windows` is set.

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

/** Returns an option of the run. The package that reads cron expressions is loaded only if there are windows. */
export async function findPauseNow(
  { windows }: Config,
  { ignoreWindows = false }: WindowFlags,
): Promise<{ readonly paused?: Paused }> {
  if (windows.length === 0 || ignoreWindows) return {};
  const { openWindows, pausedBy } = await import('../loop/windows.ts');
  return pausedBy(openWindows(windows), systemClock.now());
}
