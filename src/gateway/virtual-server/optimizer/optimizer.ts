// The search for tools of one virtual server, as its settings say now.

import { isDeepStrictEqual } from 'node:util';
import { type Found, findTools, type Wanted } from './find.ts';
import { createMeanings, type Meanings } from './meanings.ts';
import type { MeaningPorts, OpenWordIndex } from './ports.ts';
import type { OptimizerSettings } from './settings.ts';
import { createToolIndexes, type SearchedList } from './tool-index.ts';

export interface Optimizer {
  /** Clients see its two tools in place of all others. */
  enabled(): boolean;
  /** Other settings. */
  use(settings: OptimizerSettings | undefined): void;
  /** Some caller is offered these tools. */
  learn(list: SearchedList): void;
  find(list: SearchedList, wanted: Wanted): Promise<Found>;
  /** The embedding service has been asked about the tools, or does not answer in time. */
  ready(): boolean;
}

export interface OptimizerPorts extends MeaningPorts {
  readonly openWords: OpenWordIndex;
  readonly found: (found: Found) => void;
}

interface Current {
  readonly settings: OptimizerSettings;
  /** Undefined: words count alone. */
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
    async find(list, wanted) {
      if (current === undefined) throw new Error('nobody searches where the optimizer is off');
      const found = await findTools(indexOf(list), current.settings, current.meanings, wanted);
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

/** What is known of meanings stays while the service is the same. */
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
