// Carries out the actions of the console by the functions of the commands: each opens an instance of its own, as a
// command does, so that it disturbs no run, and the runs of this process then make the changes.

import pLimit from 'p-limit';
import type { ActionName, Actions, PreparedAction } from '#reconciler/control/ports.ts';
import { jsonOfWaiting } from '#reconciler/report/fleet.ts';
import { waitingList } from '#reconciler/run/fleet-state/waiting.ts';
import type { WaitingState } from '#reconciler/run/fleet-state/waiting-format.ts';
import { approveList, findWaitingList } from '#reconciler/run/operate/approve.ts';
import { clearQuarantine } from '#reconciler/run/records/quarantine.ts';
import { resume, suspend } from '#reconciler/run/records/suspension.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { countText } from '#std/words/count-text.ts';
import type { Config } from '../../config/config.ts';
import { type Instance, openForOperator } from '../instance/instance.ts';
import { useOpened } from '../operator/opened.ts';
import { beginRollback, learnHistory, previewRollback } from '../operator/rollback.ts';
import { triggerRegistry } from '../operator/trigger.ts';
import type { ActionRecord } from './action-record.ts';

export interface ActionDeps {
  readonly config: Config;
  readonly record: ActionRecord;
  readonly waiting: () => WaitingState;
  /** Requests a run that begins after this moment. */
  readonly run: () => void;
}

type Use<T> = (action: PreparedAction) => Promise<T>;
type Prepare = <T>(deps: ActionDeps, input: JsonObject, use: Use<T>) => Promise<T>;

/** Each action plans or reads a whole fleet in the process of the runs. */
const WAITING_MAX = 8;

export function openActions(deps: ActionDeps): Actions {
  const { record, waiting } = deps;
  const limit = pLimit(1);
  return {
    waiting() {
      const text = jsonOfWaiting(waiting(), record.recent());
      return { text, tag: sha256(text).slice(0, 16) };
    },
    async prepare(name, input, use) {
      if (limit.pendingCount >= WAITING_MAX)
        throw new Failure('action-busy', 'too many actions wait for their turn', { retryable: true });
      return limit(() => PREPARE[name](deps, input, use));
    },
    audit: record.add,
    runNow: deps.run,
  };
}

const PREPARE: Readonly<Record<ActionName, Prepare>> = {
  approve: prepareApproval,
  suspend: prepareSuspension,
  resume: prepareResumption,
  trigger: prepareTrigger,
  sync: (_deps, input, use) => {
    requireOnly(input, []);
    return use({ concerns: 'instance', about: '', carryOut: async () => ({}) });
  },
  rollback: prepareRollback,
  follow: prepareFollowing,
};

function prepareApproval<T>(deps: ActionDeps, input: JsonObject, use: Use<T>): Promise<T> {
  const { hash = '' } = inputTexts(input, ['hash']);
  return useInstance(deps, async (instance) => {
    const options = instance.options();
    const list = await findWaitingList(instance.deps, options, hash);
    if (list.deletions.length === 0) {
      const message = `list ${hash} stands for all changes of a first run: read skep plan, and use skep approve`;
      throw new Failure('approval-of-everything', message);
    }
    const count = countText(list.deletions.length, 'deletion');
    return use({
      concerns: list.deletions.map(({ id, takes, mayTake }) =>
        takes === undefined && mayTake === undefined ? namespaceIn(id) : undefined,
      ),
      about: `${hash} (${count}${list.source === '' ? '' : ` of source ${list.source}`})`,
      shown: { list: waitingList(list) },
      async carryOut() {
        const { expiresAt } = await approveList(instance.deps, options, list, deps.config.approval.expiresHours);
        return { expiresAt };
      },
    });
  });
}

/** Returns the namespace of `namespace/Kind/name`, and undefined for any other form. */
function namespaceIn(id: string): string | undefined {
  const parts = id.split('/');
  return parts.length === 3 ? parts[0] : undefined;
}

function prepareSuspension<T>(deps: ActionDeps, input: JsonObject, use: Use<T>): Promise<T> {
  const { reason } = inputTexts(input, [], ['reason']);
  return use({
    concerns: 'instance',
    about: reason ?? '',
    carryOut: (who) =>
      useInstance(deps, async (instance) => {
        const { since } = await suspend(instance.deps, instance.options(), { who, reason });
        return { since };
      }),
  });
}

function prepareResumption<T>(deps: ActionDeps, input: JsonObject, use: Use<T>): Promise<T> {
  requireOnly(input, []);
  return use({
    concerns: 'instance',
    about: '',
    carryOut: () =>
      useInstance(deps, async (instance) => {
        const ended = await resume(instance.deps, instance.options());
        return { ...(ended && { suspendedBy: ended.who, since: ended.since }) };
      }),
  });
}

function prepareTrigger<T>(deps: ActionDeps, input: JsonObject, use: Use<T>): Promise<T> {
  const { namespace = '', name = '' } = inputTexts(input, ['namespace', 'name']);
  // The namespace that is checked must be the namespace of the request to the cluster.
  if (!NAME.test(namespace) || !NAME.test(name))
    throw new Failure('action-arguments', 'namespace and name must be names of Kubernetes');
  return use({
    concerns: [namespace],
    about: `${namespace}/${name}`,
    async carryOut() {
      const { value } = await triggerRegistry(deps.config, { namespace, name });
      return { value };
    },
  });
}

function prepareRollback<T>(deps: ActionDeps, input: JsonObject, use: Use<T>): Promise<T> {
  const { run = '' } = inputTexts(input, ['run']);
  const { config } = deps;
  return useInstance(deps, async (instance) => {
    const preview = await previewRollback(instance, config, run);
    const { found, changes } = preview;
    const commits = found.map(({ source, good, bad }) => ({ source, good, bad }));
    return use({
      concerns: 'instance',
      about: `to run ${preview.run}`,
      shown: { run: preview.run, at: preview.at, commits, changes },
      async carryOut() {
        const target = { run: preview.run, limit: config.history.limit, confirmed: found };
        const warnings = await learnHistory(instance, await beginRollback(instance, target));
        return { warnings: warnings.map(({ message }) => message) };
      },
    });
  });
}

function prepareFollowing<T>(deps: ActionDeps, input: JsonObject, use: Use<T>): Promise<T> {
  const { source = '' } = inputTexts(input, ['source']);
  return use({
    concerns: 'instance',
    about: `source ${source}`,
    carryOut: () =>
      useInstance(deps, async (instance) => {
        const cleared = await clearQuarantine(instance.deps.cluster, instance.options(), [source]);
        return { cleared: [...cleared] };
      }),
  });
}

function useInstance<T>({ config }: ActionDeps, use: (instance: Instance) => Promise<T>): Promise<T> {
  return useOpened(openForOperator(config), use);
}

/** Names of namespaces and registries (RFC 1123, with dots). */
const NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

const TEXT_MAX = 500;

function inputTexts(
  input: JsonObject,
  required: readonly string[],
  optional: readonly string[] = [],
): Readonly<Record<string, string | undefined>> {
  requireOnly(input, [...required, ...optional]);
  const missing = required.filter((name) => input[name] === undefined);
  if (missing.length > 0) throw new Failure('action-arguments', `${missing.join(', ')} is missing`);
  const isText = (value: unknown) => typeof value === 'string' && value !== '' && value.length <= TEXT_MAX;
  const wrong = Object.entries(input).find(([, value]) => !isText(value));
  if (wrong !== undefined)
    throw new Failure('action-arguments', `${wrong[0]} must be a text of 1 to ${TEXT_MAX} characters`);
  return input as Readonly<Record<string, string>>;
}

function requireOnly(input: JsonObject, names: readonly string[]): void {
  const unknown = Object.keys(input).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Failure('action-arguments', `there is no argument ${unknown}`);
}
