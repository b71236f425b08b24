// The rules of a proxy as its files say now: policies are read again when their file changes, and stay as they were while it
// cannot be used.

import type { Logger } from 'pino';
import type { RunConfig } from '../../contracts/run-config.ts';
import { createKnownTools } from '../../gate/known-tools.ts';
import { toolRules } from '../../gate/tools.ts';
import type { ProxyClock } from '../../proxy/ports.ts';
import { createRules, type Rules } from '../../proxy/rules.ts';
import { Failure } from '../../std/failure.ts';
import { readPolicies } from './proxy-config.ts';
import type { WatchedFiles } from './watched-files.ts';

export interface WatchedRules {
  current(): Rules;
  stop(): void;
}

interface Options {
  readonly config: RunConfig;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  readonly clock: Pick<ProxyClock, 'every'>;
}

const LOOK_MS = 2000;

/** Throws a Failure where the policies cannot be used at the start. */
export function watchRules({ config, files, logger, clock }: Options): WatchedRules {
  const { authz_config_path: path } = config;
  const tools = toolRules(config);
  for (const { name, tools: clashing } of tools?.clashes ?? []) {
    logger.warn({ code: 'tool-override-clash', name, tools: clashing }, 'two tools have the same name after renaming');
  }
  const known = createKnownTools();
  const unreadable = (detail: string) => logger.warn({ code: 'list-unreadable', detail }, 'a list was refused');
  let text = path === undefined ? undefined : files.read(path);
  let rules = createRules({ tools, policies: readPolicies(files, path), known, unreadable });

  function look(): void {
    if (path === undefined) return;
    const now = files.read(path);
    if (now === text) return;
    text = now;
    try {
      rules = createRules({ tools, policies: readPolicies(files, path), known, unreadable });
      logger.info({ path }, 'policies read again');
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      logger.error({ code: error.code, path }, `${error.message}; the last good policies stay in use`);
    }
  }

  return { current: () => rules, stop: clock.every(LOOK_MS, look) };
}
