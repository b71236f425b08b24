// Searches the tools of a virtual server by its current settings.

import { isDeepStrictEqual } from 'node:util';
import { findTools, type ToolMatches, type ToolSearch } from './find.ts';
import { createMeanings, type Meanings } from './meanings.ts';
import type { MeaningPorts, OpenWordIndex } from './ports.ts';
import type { OptimizerSettings } from './settings.ts';
import { createToolIndexes, type SearchedList } from './tool-index.ts';

export interface Optimizer {
  /** Returns whether clients see find_tool and call_tool instead of all tools. */
  enabled(): boolean;
  use(settings: OptimizerSettings | undefined): void;
  /** Reads the vectors of a tool list that a caller gets. */
  learn(list: SearchedList): void;
  find(list: SearchedList, query: ToolSearch): Promise<ToolMatches>;
  /** Returns true once a reading of vectors has ended, or the time limit of the service has passed. */
  ready(): boolean;
}

export interface OptimizerPorts extends MeaningPorts {
  readonly openWords: OpenWordIndex;
  readonly found: (found: ToolMatches) => void;
}

interface Current {
  readonly settings: OptimizerSettings;
  /** undefined if the search uses words only. */
  readonly meanings: Meanings | undefined;
  readonly since: number;
}

export function createOptimizer(first: OptimizerSettings | undefined, ports: OptimizerPorts): Optimizer {
  const indexOf = createToolIndexes(ports.openWords);
  let current = openCurrent(undefined, first, ports);
  let learned = false;
  return {
    enabled: () => current !== undefined,
    use(settings) {
      current = openCurrent(current, settings, ports);
    },
    learn(list) {
      void current?.meanings?.learn(indexOf(list).meanings).then(() => {
        learned = true;
      });
    },
    async find(list, query) {
      if (current === undefined) throw new Error('a search requires an enabled optimizer');
      const found = await findTools(indexOf(list), current.settings, current.meanings, query);
      ports.found(found);
      return found;
    },
    ready() {
      const service = current?.meanings === undefined ? undefined : current.settings.service;
      if (service === undefined || current === undefined) return true;
      return learned || ports.clock.monotonic() - current.since >= service.timeoutMs;
    },
  };
}

/** Applies new settings. Vectors stay if the settings of the service are unchanged. */
function openCurrent(
  before: Current | undefined,
  settings: OptimizerSettings | undefined,
  ports: OptimizerPorts,
): Current | undefined {
  if (settings === undefined) return undefined;
  const { service } = settings;
  const known = before?.settings.service;
  if (before !== undefined && isDeepStrictEqual(known, service)) return { ...before, settings };
  const meanings = service === undefined ? undefined : createMeanings(service, ports);
  return { settings, meanings, since: ports.clock.monotonic() };
}
