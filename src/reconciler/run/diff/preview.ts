// Sends dry runs of changes before the first write. A dry run also decides comparisons with the result `unknown`.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { differences } from '#kubernetes/rules/ownership/differences.ts';
import { Failure } from '#std/failure.ts';
import { isObject, jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { withValues } from '../desire/generated.ts';
import { readMergeType } from '../observe/merge-types.ts';
import type { AccountOf } from '../plan/accounts.ts';
import type { Cluster } from '../ports.ts';
import { fieldsRefused, findImmutableFields } from '../prune/replacement.ts';
import { type Certainty, type CertaintyDeps, openCertainty, sameContent } from './certainty.ts';
import type { Compared, Preview } from './compared.ts';
import { applyConceding } from './conceded.ts';
import { clearWay, tryEvicting } from './evictions.ts';
import { type FieldRules, fieldStates } from './field-states.ts';
import { firstOfMany } from './many-creations.ts';

export interface PreviewDeps extends CertaintyDeps {
  readonly cluster: Pick<Cluster, 'apply' | 'schema' | 'patch' | 'resources' | 'list'>;
}

interface Asking extends PreviewDeps {
  readonly certainty: Certainty;
}

export interface PreviewInput extends FieldRules {
  readonly compared: readonly Compared[];
  readonly accountOf: AccountOf;
  readonly living: (id: ResourceId) => KubeObject | undefined;
  /** Returns why the object must not be replaced, and how to allow it; undefined if the replacement is allowed. */
  readonly replaceBar: (compared: Compared) => string | undefined;
  /** Dry runs that this run has sent for an earlier plan. */
  readonly before?: Previews;
  /**
   * If set, only the first of similar creations are sent. The other creations are sent unless the server accepts all of
   * the first.
   */
  readonly sampled: boolean;
}

export type Previews = ReadonlyMap<string, PendingDryRun>;

interface PendingDryRun {
  readonly about: Compared;
  readonly answer: Promise<Compared>;
}

export interface Previewed {
  /** All comparisons. `unknown` is decided; `changed` becomes `unchanged` if the dry run shows no change. */
  readonly compared: readonly Compared[];
  readonly previews: Previews;
}

export async function preview(given: PreviewDeps, input: PreviewInput): Promise<Previewed> {
  const deps = { ...given, certainty: openCertainty(given, input.manager) };
  const previews = new Map<string, PendingDryRun>();
  const created = new Set(input.compared.flatMap(({ desired, result }) => (result === 'create' ? desired.key : [])));
  const first = input.sampled ? firstOfMany(input.compared, input.accountOf) : new Map<string, readonly string[]>();

  async function askAbout(each: Compared): Promise<Compared> {
    if (each.result === 'unchanged') return each;
    if (await isRemembered(deps, each)) return unchanged(each);
    const reason = dependence(each.desired.object, created);
    if (reason !== undefined) return previewed(each, { result: 'skipped', reason });
    const answer = answerBefore(input, each) ?? askServer(deps, input, each);
    previews.set(each.desired.key, { about: each, answer });
    return answer;
  }

  const answers = await Promise.all(
    input.compared.map((each) => (first.has(each.desired.key) ? undefined : askAbout(each))),
  );
  const toCome = creationsToCome(answers);
  const compared = await Promise.all(
    input.compared.map((each, index) => {
      const isLike = first.get(each.desired.key)?.every((key) => toCome.has(key)) === true;
      return answers[index] ?? (isLike ? previewed(each, { result: 'skipped', reason: LIKE_OTHERS }) : askAbout(each));
    }),
  );
  return { compared, previews };
}

/**
 * Returns the keys of accepted creations whose owner was not refused: they exist in the next run. Empty if an object is
 * to be replaced, because the run omits a replacement if the server refuses another object of the source.
 */
function creationsToCome(answers: readonly (Compared | undefined)[]): ReadonlySet<string> {
  const given = answers.filter((each) => each !== undefined);
  if (given.some(({ result }) => result === 'replace')) return new Set();
  const answered = (outcome: Preview['result']) => given.filter((each) => each.preview?.result === outcome);
  const refused = new Set(answered('refused').map(({ desired }) => desired.key));
  const coming = answered('accepted').filter(
    ({ desired: { owner } }) => owner === undefined || !refused.has(keyOf(owner)),
  );
  return new Set(coming.map(({ desired }) => desired.key));
}

const LIKE_OTHERS = 'it accepts the first objects of their kind in the namespace';

/** Returns the dry run for the earlier plan, if the desired and the live object are still the same. */
function answerBefore({ before }: PreviewInput, { desired, live }: Compared): Promise<Compared> | undefined {
  const asked = before?.get(desired.key);
  if (asked === undefined || asked.about.live?.metadata.resourceVersion !== live?.metadata.resourceVersion) return;
  return jsonEquals(asked.about.desired.object, desired.object) ? asked.answer : undefined;
}

/** Returns true if an earlier dry run has shown that the apply changes nothing. */
async function isRemembered({ certainty }: Asking, { desired, live }: Compared): Promise<boolean> {
  return live !== undefined && desired.random === undefined && certainty.isKnown(desired.object, live);
}

function unchanged({ fields = [], ...compared }: Compared): Compared {
  return { ...compared, result: 'unchanged', diff: [], fields: fields.filter(({ state }) => state !== 'set-back') };
}

function previewed(compared: Compared, answer: Preview): Compared {
  return { ...compared, result: compared.result === 'unknown' ? 'changed' : compared.result, preview: answer };
}

/** Returns why a dry run is not possible yet: the same plan creates the namespace or role of the object. */
function dependence(object: KubeObject, created: ReadonlySet<string>): string | undefined {
  const needed = [namespaceOf(object), roleOf(object)].find((id) => id !== undefined && created.has(keyOf(id)));
  return needed === undefined ? undefined : `their ${needed.kind} does not exist yet`;
}

function namespaceOf({ metadata: { namespace: name } }: KubeObject): ResourceId | undefined {
  return name === undefined ? undefined : { apiVersion: 'v1', kind: 'Namespace', name };
}

/**
 * Returns the role of a binding. A user without the right `bind` needs all rights of the role (Kubernetes,
 * "Restrictions on role binding creation").
 */
function roleOf({ apiVersion, metadata, roleRef }: KubeObject): ResourceId | undefined {
  if (!isObject(roleRef)) return undefined;
  const { kind, name } = roleRef;
  const namespace = kind === 'Role' && metadata.namespace !== undefined ? { namespace: metadata.namespace } : {};
  return { apiVersion, kind: String(kind), ...namespace, name: String(name) };
}

async function askServer(deps: Asking, input: PreviewInput, compared: Compared): Promise<Compared> {
  const { desired, live } = compared;
  const force = input.force || desired.owner !== undefined;
  if (compared.evicted !== undefined) return askEvicting(deps, input, compared);
  try {
    const options = { dryRun: true, force, ...asAccount(input, compared) };
    const { stored, object, conceded } = await applyConceding(
      deps.cluster,
      asSent(compared),
      options,
      desired.contents,
    );
    const { uid: _uid, ...metadata } = object.metadata;
    const stateOf = fieldStates(input, desired.object, desired.owner !== undefined);
    const lost = conceded.map((field) => ({ ...field, state: stateOf(field.path, field.manager) }));
    const fields = [...(compared.fields ?? []), ...lost];
    const left = { ...compared, desired: { ...desired, object: { ...object, metadata } }, fields };
    const answered = conceded.length === 0 ? compared : left;
    if (live === undefined || desired.random !== undefined || !sameContent(stored, live)) {
      return previewed(await asAnswered(deps, input, answered, stored), { result: 'accepted' });
    }
    await deps.certainty.remember(answered.desired.object, live);
    return unchanged(answered);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return answerRefusal(deps, input, compared, error);
  }
}

/** Drops differences of fields that the apply removes and the server sets again, such as defaults. */
async function asAnswered(deps: Asking, { manager }: PreviewInput, compared: Compared, stored: KubeObject) {
  const { live, desired, diff } = compared;
  if (live === undefined || live.kind === 'Secret' || !diff.some(({ after }) => after === undefined)) return compared;
  const type = await readMergeType(deps.cluster, desired.object);
  return type === undefined
    ? compared
    : { ...compared, diff: differences(desired.object, live, type, manager, stored) };
}

async function askEvicting(deps: PreviewDeps, input: PreviewInput, compared: Compared): Promise<Compared> {
  const type = await readMergeType(deps.cluster, compared.desired.object);
  if (type === undefined) return previewed(compared, { result: 'skipped', reason: 'the server publishes no schema' });
  try {
    await tryEvicting(deps.cluster, compared, type, asAccount(input, compared).as);
    return previewed(compared, { result: 'accepted' });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return answerRefusal(deps, input, compared, error);
  }
}

/** Adds the removal of parts of other managers or the server that cause the refusal; undefined if no removal helps. */
async function withoutOthersParts(
  deps: PreviewDeps,
  input: PreviewInput,
  compared: Compared,
  failure: Failure,
): Promise<Compared | undefined> {
  const refused = fieldsRefused(failure);
  const type = refused === undefined ? undefined : await readMergeType(deps.cluster, compared.desired.object);
  if (refused === undefined || type === undefined) return undefined;
  try {
    const cleared = await clearWay(deps.cluster, input, compared, type, refused, asAccount(input, compared).as);
    return cleared && previewed(cleared, { result: 'accepted' });
  } catch (error) {
    if (error instanceof Failure) return previewed(compared, { result: 'skipped', reason: error.message });
    throw error;
  }
}

function asAccount({ accountOf }: PreviewInput, { desired }: Compared): { as?: string } {
  const as = accountOf(desired.object);
  return as === undefined ? {} : { as };
}

/** Adds the uid that the live object must still have. Values that only the apply generates are placeholders. */
function asSent({ desired, live }: Compared): KubeObject {
  const object = withValues(desired.object, desired.random, (bytes) => new Uint8Array(bytes).fill(1));
  const uid = live?.metadata.uid;
  return uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } };
}

async function answerRefusal(
  deps: PreviewDeps,
  input: PreviewInput,
  compared: Compared,
  failure: Failure,
): Promise<Compared> {
  const { code, message } = failure;
  if (isNoAnswer(failure)) return previewed(compared, { result: 'skipped', reason: message });
  const cleared = await withoutOthersParts(deps, input, compared, failure);
  if (cleared !== undefined) return cleared;
  const fields =
    compared.live === undefined
      ? undefined
      : await findImmutableFields(deps.cluster, { ...input, ...asAccount(input, compared) }, compared, failure);
  if (fields === undefined) return previewed(compared, { result: 'refused', code, message });
  const bar = input.replaceBar(compared);
  if (bar === undefined) return { ...compared, result: 'replace', preview: { result: 'accepted' } };
  const explained = `${message}. ${fields} cannot be changed, only replaced with the whole object: ${bar}`;
  return previewed(compared, { result: 'refused', code: 'immutable-field', message: explained });
}

/** Returns true for temporary failures and for webhooks that support no dry run: the real change may succeed. */
function isNoAnswer({ code, message }: Failure): boolean {
  const troubled = ['cluster-busy', 'cluster-error', 'cluster-unreachable'].includes(code);
  return troubled || message.includes('does not support dry run');
}
