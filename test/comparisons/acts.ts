// What others do to an object of ours: apply, edit, patch, scale, write its status. Each as the tools of others send it;
// what the server refuses changes nothing.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { MergeType } from '#kubernetes/rules/openapi.ts';
import { isObject, type Json, type JsonObject, pointerTokens } from '#std/json.ts';
import type { Random } from '../harness/random.ts';
import type { Api, Call } from '../recordings/api.ts';
import { APPLY_PATCH } from '../recordings/scenario.ts';
import { changed } from './people.ts';
import { read, remove, spotsOf } from './spots.ts';

export interface Stage {
  readonly api: Api;
  readonly random: Random;
  readonly type: MergeType;
  /** Path of the object. */
  readonly path: string;
  /** Field manager of the applier that is judged. */
  readonly manager: string;
  /** What that one applied last. */
  readonly applied: KubeObject;
}

type Act = (stage: Stage) => Promise<string>;

/** Does one of them and says what it did. */
export async function act(stage: Stage): Promise<string> {
  return stage.random.pick(ACTS)(stage);
}

const ACTS: readonly Act[] = [
  applyPart,
  applyPart,
  applySame,
  edit,
  edit,
  edit,
  annotate,
  patchValue,
  removeValue,
  clientSideApply,
  scale,
  writeStatus,
  updateAsUs,
  applyThenLeave,
  forgetManagers,
];

async function send({ api }: Stage, what: string, call: Call): Promise<string> {
  const { status } = await api.call(call);
  return `${what}: ${status}`;
}

function patch(stage: Stage, what: string, manager: string, body: Json, below = ''): Promise<string> {
  const contentType = 'application/merge-patch+json';
  const call = {
    method: 'PATCH',
    path: `${stage.path}${below}`,
    query: { fieldManager: manager },
    contentType,
  } as const;
  return send(stage, what, { ...call, body: JSON.stringify(body) });
}

function applyAs(stage: Stage, what: string, manager: string, object: JsonObject): Promise<string> {
  const query = { fieldManager: manager, force: 'true' };
  const call = { method: 'PATCH', path: stage.path, query, contentType: APPLY_PATCH } as const;
  return send(stage, what, { ...call, body: JSON.stringify(object) });
}

async function living({ api, path }: Stage): Promise<KubeObject | undefined> {
  const { status, body } = await api.call({ method: 'GET', path, query: {} });
  return status === 200 ? (body as unknown as KubeObject) : undefined;
}

/** Another applier has some of the fields, with other values in some of them. */
function applyPart(stage: Stage): Promise<string> {
  const { random, applied, type } = stage;
  const { object, what } = changed(random, applied, type);
  const part = withoutStatus(object);
  for (let cut = random.integer(3); cut > 0; cut -= 1) {
    const inner = spotsOf(part, type).filter((spot) => !Array.isArray(spot.parent) && isObject(read(spot)));
    if (inner.length > 0) remove(random.pick(inner));
  }
  return applyAs(stage, `another applies a part (${what.join(', ')})`, 'other', part);
}

function applySame(stage: Stage): Promise<string> {
  return applyAs(stage, 'another applies the same', 'other', withoutStatus(stage.applied));
}

async function applyThenLeave(stage: Stage): Promise<string> {
  const { apiVersion, kind, metadata } = stage.applied;
  await applyPart(stage);
  const { name, namespace } = metadata;
  const identity = { name, ...(namespace === undefined ? {} : { namespace }) };
  return applyAs(stage, 'another applies and lets go', 'other', { apiVersion, kind, metadata: identity });
}

function withoutStatus(object: KubeObject): JsonObject {
  const { status: _, ...rest } = structuredClone(object);
  return rest as JsonObject;
}

/** `kubectl edit`: read, changed by hand, put back. */
async function edit(stage: Stage): Promise<string> {
  const live = await living(stage);
  if (live === undefined) return 'nothing to edit';
  const { object, what } = changed(stage.random, live, stage.type);
  return put(stage, `edited (${what.join(', ')})`, 'kubectl-edit', object);
}

/** A controller, or an old release of ours, that updates under the name that we apply with. */
async function updateAsUs(stage: Stage): Promise<string> {
  const live = await living(stage);
  if (live === undefined) return 'nothing to update';
  const { object, what } = changed(stage.random, live, stage.type);
  return put(stage, `updated under our name (${what.join(', ')})`, stage.manager, object);
}

/** Again with the newest version where a controller was faster: whose turn it was must not matter to the story. */
async function put(stage: Stage, what: string, manager: string, object: KubeObject): Promise<string> {
  const call = { method: 'PUT', path: stage.path, query: { fieldManager: manager } } as const;
  const reported = await send(stage, what, { ...call, contentType: 'application/json', body: JSON.stringify(object) });
  const now = reported.endsWith(': 409') ? await living(stage) : undefined;
  if (now === undefined || now.metadata.resourceVersion === object.metadata.resourceVersion) return reported;
  const { resourceVersion = '' } = now.metadata;
  return put(stage, what, manager, { ...object, metadata: { ...object.metadata, resourceVersion } });
}

/** `kubectl apply` without `--server-side`: the last applied manifest as an annotation, maps merged, lists replaced. */
async function clientSideApply(stage: Stage): Promise<string> {
  const live = await living(stage);
  if (live === undefined) return 'nothing to apply to';
  const { object, what } = changed(stage.random, stage.applied, stage.type);
  const merged = merge(live as JsonObject, withoutStatus(object)) as KubeObject;
  const annotations = {
    ...merged.metadata.annotations,
    'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(object)}\n`,
  };
  const after = { ...merged, metadata: { ...merged.metadata, annotations } };
  return put(stage, `applied in the client (${what.join(', ')})`, 'kubectl-client-side-apply', after);
}

function merge(live: Json, desired: Json): Json {
  if (!isObject(live) || !isObject(desired)) return desired;
  const merged = { ...live };
  for (const [key, value] of Object.entries(desired)) {
    if (value !== undefined) merged[key] = merge(live[key] ?? null, value);
  }
  return merged;
}

function annotate(stage: Stage): Promise<string> {
  const key = stage.random.pick(['example.com/seen', 'team', 'version']);
  const field = stage.random.pick(['labels', 'annotations']);
  return patch(stage, `${field} ${key} patched`, 'kubectl-patch', { metadata: { [field]: { [key]: 'theirs' } } });
}

/** The path to a value that only maps lead to. */
function pathTo(stage: Stage): readonly string[] | undefined {
  const spots = spotsOf(stage.applied as JsonObject, stage.type).filter(
    (spot) => !/\/\d+(\/|$)/.test(spot.path) && !isObject(read(spot)),
  );
  return spots.length === 0 ? undefined : pointerTokens(stage.random.pick(spots).path);
}

function nested(path: readonly string[], value: Json): Json {
  return path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
}

async function patchValue(stage: Stage): Promise<string> {
  const path = pathTo(stage);
  if (path === undefined) return 'nothing to patch';
  const value = stage.random.pick<Json>(['theirs', '7', 7, true]);
  return patch(stage, `${path.join('/')} patched`, 'kubectl-patch', nested(path, value));
}

async function removeValue(stage: Stage): Promise<string> {
  const path = pathTo(stage);
  if (path === undefined) return 'nothing to remove';
  return patch(stage, `${path.join('/')} taken away`, 'kubectl-patch', nested(path, null));
}

function scale(stage: Stage): Promise<string> {
  const replicas = stage.random.integer(4);
  return patch(stage, `scaled to ${replicas}`, 'autoscaler', { spec: { replicas } }, '/scale');
}

function writeStatus(stage: Stage): Promise<string> {
  const status = stage.random.pick<Json>([{ observedGeneration: 3 }, { replicas: 1 }, { message: 'seen' }]);
  return patch(stage, 'status written', 'some-controller', { status }, '/status');
}

/** Someone wipes who owns what. */
function forgetManagers(stage: Stage): Promise<string> {
  if (stage.random.chance(0.7)) return annotate(stage);
  return patch(stage, 'managedFields wiped', 'wiper', { metadata: { managedFields: [{}] } });
}
