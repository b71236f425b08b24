// Keeps the current rules from a proxy's configuration and policy file. Reports to listeners which lists have changed.

import type { Logger } from 'pino';
import type { RunConfig } from '#contracts/run-config.ts';
import { createKnownTools } from '#gateway/gate/known-tools.ts';
import { toolRules } from '#gateway/gate/tools.ts';
import type { ChangedList, LiveRules } from '#gateway/proxy/lists/live-stream.ts';
import { createRules, type Rules } from '#gateway/proxy/rules.ts';
import { namedResource } from '#gateway/proxy/settings.ts';
import type { TaskIds } from '#gateway/proxy/tasks/task-ids.ts';
import { Failure } from '#std/failure.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { readPolicies } from './config.ts';
import type { ProxyLock } from './tools-lock.ts';

export interface ReplaceableRules extends LiveRules {
  /**
   * Applies the rules of the configuration and of its files. If they cannot be used, logs this once, returns false, and
   * keeps the last valid rules.
   */
  replace(config: RunConfig): boolean;
}

const EVERY_LIST: readonly ChangedList[] = ['tools', 'prompts', 'resources'];

export interface RulesParts {
  readonly files: WatchedFiles;
  readonly logger: Logger;
  readonly tasks: TaskIds;
  readonly lock: ProxyLock;
}

/** Throws a Failure if the policies cannot be used. */
export function openRules(config: RunConfig, { files, logger, tasks, lock }: RulesParts): ReplaceableRules {
  const known = createKnownTools();
  const listeners = new Set<(lists: readonly ChangedList[]) => void>();
  const unreadable = (detail: string) =>
    logger.warn({ code: 'list-unreadable', detail }, 'a list of the MCP server cannot be read');
  let from = sourcesOf(config, files);
  let rules = make(config);
  let refused = '';

  function make(of: RunConfig): Rules {
    const tools = toolRules(of);
    const policies = readPolicies(files, of);
    for (const { name, tools: clashing } of tools?.clashes ?? []) {
      logger.warn(
        { code: 'tool-override-clash', name, tools: clashing },
        'two tools have the same name after renaming',
      );
    }
    const resource = of.oidc_config && namedResource(of.oidc_config);
    const keeper = lock.keeperOf(of);
    const isActive = tools !== undefined || policies !== undefined || keeper?.enforces === true;
    const sealed = isActive ? tasks : undefined;
    return createRules({ tools, policies, known, lock: keeper, tasks: sealed, resource, unreadable });
  }

  return {
    current: () => rules,
    onChange(task) {
      listeners.add(task);
      return () => void listeners.delete(task);
    },
    replace(next) {
      const sources = sourcesOf(next, files);
      const text = JSON.stringify(sources);
      if (text === JSON.stringify(from)) return true;
      const lists = changedBetween(from, sources);
      if (text === refused) return false;
      try {
        rules = make(next);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        refused = text;
        logger.error({ code: error.code }, `${error.message}; the last good settings stay in force`);
        return false;
      }
      from = sources;
      refused = '';
      logger.info({ lists }, 'changed rules are in force');
      for (const listener of [...listeners]) listener(lists);
      return true;
    },
  };
}

/** Texts from which the rules are created, to detect changes. */
interface Sources {
  readonly tools: string;
  readonly lock: string;
  readonly policies: string;
  /** Resource that is named to clients whose token lacks a scope. */
  readonly resource: string;
}

function sourcesOf(config: RunConfig, files: WatchedFiles): Sources {
  const {
    tools_filter,
    tools_override,
    tools_lock: lock,
    authz_config_path: path,
    authz_groups,
    oidc_config: oidc,
    embedded_auth_server_config: server,
  } = config;
  return {
    resource: JSON.stringify(oidc && namedResource(oidc)),
    tools: JSON.stringify([tools_filter, tools_override]),
    lock: JSON.stringify(lock) ?? '',
    policies:
      path === undefined
        ? ''
        : `${files.readSettings(path)}${JSON.stringify([authz_groups ?? {}, server?.primary_upstream_provider ?? ''])}`,
  };
}

function changedBetween(before: Sources, after: Sources): readonly ChangedList[] {
  if (before.policies !== after.policies || before.lock !== after.lock) return EVERY_LIST;
  return before.tools === after.tools ? [] : ['tools'];
}
