// The stage of the drift matrix: a fleet of all targets, what others do to them, runs, and what they say of each target.

import pLimit from 'p-limit';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { textOfOutcome } from '#reconciler/report/text.ts';
import type { ChangeOutcome } from '#reconciler/run/apply/apply.ts';
import type { FieldOfOther } from '#reconciler/run/diff/field-states.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { RunOptions } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import { type Json, type JsonObject, jsonEquals, pointerToken, valueAtPointer } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { openFleet } from '../cluster/fleet.ts';
import { allowNoPods, kindOf, removeNow, type SuiteServer } from '../cluster/server.ts';
import type { Subject } from '../comparisons/manifests.ts';
import { typeOf } from '../comparisons/stories.ts';
import { connect } from '../recordings/api.ts';
import { type Deed, HANDS } from './hands.ts';
import { copyOf, driftingKinds, type Target, targetsOf } from './targets.ts';

export interface Drifted {
  readonly target: Target;
  readonly operation: JsonObject;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Of one target, after a run. */
export interface Seen {
  /** Places where it is otherwise than this; empty: it is the same. */
  unlike(content: JsonObject): readonly string[];
  /** Those of them that are of this. */
  lost(content: JsonObject): readonly string[];
  readonly isConfigured: boolean;
  /** As it would be with what others have set, it is not valid, and stays as it is. */
  readonly isHeld: boolean;
  /** Why it could not be changed. */
  readonly error: ChangeOutcome['error'];
  /** Those that others have set. */
  readonly fields: readonly FieldOfOther[];
}

export interface Stage {
  readonly targets: readonly Target[];
  /** Commits and runs; what went wrong. `ignored`: the value of the annotation `skep.dev/ignore-fields`. */
  commit(ignored?: (target: Target) => string | undefined): Promise<readonly string[]>;
  /** Those that the server let change. */
  drift(deed: Deed): Promise<readonly Drifted[]>;
  run(options?: Partial<RunOptions>): Promise<(drifted: Drifted) => Seen>;
  /** What a further run writes; what it may not is none. */
  writes(options?: Partial<RunOptions>): Promise<readonly string[]>;
  /** Each target becomes again what the first commit made it. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

const AT_ONCE = 12;
export const EDITOR = 'editor';
const IGNORED = 'skep.dev/ignore-fields';
/** Of the run, of this story, and what counts the templates that a workload has had. */
const NO_CONTENT: ReadonlySet<string> = new Set([
  'skep.dev/run',
  IGNORED,
  'deployment.kubernetes.io/revision',
  'deprecated.daemonset.template.generation',
]);

/** Each kind is in a namespace of its own: registries say which images servers beside them may have. */
export async function openStage(server: SuiteServer, most: number): Promise<Stage> {
  const fleet = await openFleet(server, 'admin');
  const api = await connect(server.kubeconfig);
  const kinds = await Promise.all(
    driftingKinds(fleet.group).map(async (subject) => {
      const namespace = await server.namespace(`drift-${subject.plural}`);
      await allowNoPods(fleet.client, namespace);
      const resource = await kindOf(fleet.client, subject.apiVersion, subject.kind);
      const manifests = await takenOf(fleet.client, subject, namespace);
      const targets = targetsOf({ ...subject, manifests }, await typeOf(fleet, subject), namespace, most);
      return { namespace, resource, targets };
    }),
  );
  const targets = kinds.flatMap((kind) => kind.targets);
  let first: ReadonlyMap<string, JsonObject> | undefined;

  async function contents(): Promise<ReadonlyMap<string, JsonObject>> {
    const lists = await Promise.all(kinds.map(({ resource, namespace }) => fleet.client.list(resource, namespace)));
    return new Map(lists.flat().map((object) => [keyOf(object), contentOf(object)]));
  }

  async function driftOne(target: Target, deed: Deed, before: JsonObject): Promise<Drifted | undefined> {
    for (const operation of HANDS[deed](target, valueAtPointer(before, target.pointer)).slice(0, 12)) {
      const { status, body } = await api.call({
        method: 'PATCH',
        path: target.path,
        query: { fieldManager: EDITOR },
        contentType: 'application/json-patch+json',
        body: JSON.stringify([operation]),
      });
      if (status !== 200) continue;
      const after = contentOf(body as unknown as KubeObject);
      const isDrift =
        deed === 'added' ? !jsonEquals(after, before) : differences(before, after, '', 'of the first').length > 0;
      if (isDrift) return { target, operation, before, after };
    }
    return undefined;
  }

  const stage: Stage = {
    targets,
    commit: async (ignored = () => undefined) => {
      fleet.git.commit(filesOf(targets, ignored));
      const { outcomes } = await fleet.run({ children: false });
      const now = await contents();
      first ??= now;
      const missing = targets.map(({ object }) => keyOf(object)).filter((key) => !now.has(key));
      return [...outcomes.filter(({ error }) => error !== undefined).map(textOfOutcome), ...missing];
    },
    drift: async (deed) => {
      const [before, limit] = [await contents(), pLimit(AT_ONCE)];
      const all = targets.map((target) => limit(() => driftOne(target, deed, before.get(keyOf(target.object)) ?? {})));
      return (await Promise.all(all)).filter((each) => each !== undefined);
    },
    run: async (options = {}) => {
      const result = await fleet.run({ children: false, ...options });
      return seenIn(result, await contents());
    },
    writes: async (options = {}) => {
      const { outcomes } = await fleet.run({ children: false, ...options });
      return outcomes.filter(({ error }) => error === undefined).map(textOfOutcome);
    },
    restore: async () => {
      await stage.commit();
      const [now, limit] = [await contents(), pLimit(AT_ONCE)];
      const others = targets.filter(({ object }) => !jsonEquals(now.get(keyOf(object)), first?.get(keyOf(object))));
      await Promise.all(others.map(({ object }) => limit(() => removeNow(fleet.client, idOf(object)))));
      const trouble = await stage.commit();
      if (trouble.length > 0) throw new Error(`not restored:\n${trouble.join('\n')}`);
    },
    close: async () => {
      await Promise.all([fleet.close(), api.close()]);
      await server.close();
    },
  };
  return stage;
}

/** Those that the server takes: some are written to be refused. */
async function takenOf(client: ConnectedCluster, { manifests }: Subject, namespace: string) {
  const isTaken = async (manifest: KubeObject) => {
    const object = copyOf(manifest, 'tried', namespace);
    return client.apply(object, { force: true, dryRun: true }).then(() => true, isRefusal);
  };
  const taken = await Promise.all(manifests.map(isTaken));
  return manifests.filter((_, index) => taken[index]);
}

function isRefusal(error: unknown): false {
  if (error instanceof Failure && error.code === 'cluster-invalid') return false;
  throw error;
}

/** One file for all copies of a manifest. */
function filesOf(targets: readonly Target[], ignored: (target: Target) => string | undefined): Record<string, string> {
  const files = new Map<string, string[]>();
  for (const target of targets) {
    const { metadata, ...rest } = target.object;
    const fields = ignored(target);
    const annotations = fields === undefined ? metadata.annotations : { ...metadata.annotations, [IGNORED]: fields };
    const path = `${metadata.name.replace(/-\d+$/, '')}.yaml`;
    const text = JSON.stringify({ ...rest, metadata: { ...metadata, ...(annotations && { annotations }) } });
    files.set(path, [...(files.get(path) ?? []), text]);
  }
  return Object.fromEntries([...files].map(([path, texts]) => [path, texts.join('\n---\n')]));
}

/** What a run may have an opinion about. */
function contentOf({ metadata, apiVersion, kind, status: _status, ...content }: KubeObject): JsonObject {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !NO_CONTENT.has(key));
  const marks = { labels: metadata.labels ?? {}, annotations: Object.fromEntries(annotations) };
  return { apiVersion, kind, metadata: marks, ...content };
}

function keyOf({ kind, metadata: { name } }: { readonly kind: string; readonly metadata: { readonly name: string } }) {
  return `${kind}/${name}`;
}

function seenIn(result: RunResult, contents: ReadonlyMap<string, JsonObject>): (drifted: Drifted) => Seen {
  const nameOf = ({ kind, name }: ResourceId) => `${kind}/${name}`;
  const errors = new Map(result.outcomes.map(({ resource, error }) => [nameOf(resource), error]));
  const configured = new Set(
    result.outcomes.filter(({ action }) => action === 'configured').map(({ resource }) => nameOf(resource)),
  );
  const held = new Set(
    result.problems.flatMap(({ code, resource }) => (code === 'kept-invalid' && resource ? [nameOf(resource)] : [])),
  );
  const fields = Map.groupBy(result.fields, ({ resource }) => nameOf(resource));
  return ({ target }) => {
    const key = keyOf(target.object);
    return {
      unlike: (content) => differences(content, contents.get(key) ?? null, ''),
      lost: (content) => differences(content, contents.get(key) ?? null, '', 'of the first'),
      isConfigured: configured.has(key),
      isHeld: held.has(key),
      error: errors.get(key),
      fields: fields.get(key) ?? [],
    };
  };
}

function differences(wanted: Json, found: Json, path: string, which?: 'of the first'): readonly string[] {
  if (jsonEquals(wanted, found)) return [];
  if (which !== undefined && wanted === null) return [];
  if (which !== undefined && Array.isArray(wanted) && Array.isArray(found)) {
    const missing = wanted.filter((item) => found.every((each) => differences(item, each, '', which).length > 0));
    return missing.map((item) => `${path} without ${JSON.stringify(item)}`);
  }
  const keysOf = (value: Json) => (typeof value === 'object' && value !== null ? Object.keys(value) : []);
  const keys = [...new Set([...keysOf(wanted), ...keysOf(found)])];
  if (keys.length === 0 || Array.isArray(wanted) !== Array.isArray(found))
    return [`${path}: ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}`];
  return keys.flatMap((key) => {
    const token = `/${pointerToken(key)}`;
    return differences(
      valueAtPointer(wanted, token) ?? null,
      valueAtPointer(found, token) ?? null,
      `${path}${token}`,
      which,
    );
  });
}
