// Verifies the images of children before an apply. An image with a problem is reported or blocks the children of its
// resource. With mode `require` or the setting `pin`, a verified image is pinned to its digest.

import pLimit from 'p-limit';
import { formatProvenance, IMAGE_PROVENANCE, readProvenance } from '#contracts/registry/image-provenance.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { jsonEquals } from '#std/json.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import { type Desired, type Desires, heldOwner } from '../desire/desire.ts';
import { refuseUnread } from '../desire/unread.ts';
import { SIGNED_IMAGES } from '../labels.ts';
import { problemOf } from '../read/problem-of.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Resolved } from '../resolve/resolve.ts';
import type { Reuse } from '../reuse.ts';
import { decide, type ImageDecision, type Pin } from './decide.ts';
import { podImages, withImages } from './pod-images.ts';
import {
  type EntryProvenance,
  type Expected,
  expectedOf,
  type ImagePolicy,
  modeFor,
  unfulfilled,
  type VerifyMode,
} from './policy.ts';
import type { ImageFacts, ImageRequest, ImageVerifier } from './ports.ts';

export interface VerifyInput {
  readonly policy: ImagePolicy | undefined;
  readonly verifier: ImageVerifier | undefined;
  /** Images in the instance's own configuration. They are verified only if a rule matches them. */
  readonly own: readonly string[];
  readonly entries: (namespace: string) => EntryProvenance | undefined;
  readonly resolved: Resolved;
  readonly desires: Desires;
  readonly living: (id: ResourceId) => KubeObject | undefined;
  readonly reuse: Reuse;
}

export interface ImagesVerified {
  readonly resolved: Resolved;
  readonly desires: Desires;
  readonly problems: readonly Problem[];
}

interface Use {
  readonly child: Desired;
  readonly owner: Sourced;
  readonly mode: VerifyMode;
  readonly expected: Expected;
  readonly request: ImageRequest;
}

/**
 * Maximum number of requests at once. More requests would not be faster with a slow registry, and might look like
 * abuse.
 */
const AT_ONCE = 4;

export async function verifyChildren(input: VerifyInput): Promise<ImagesVerified> {
  const { policy, verifier, resolved, desires } = input;
  if (policy === undefined) return { resolved, desires, problems: [] };
  if (verifier === undefined) return { resolved, desires: pinnedAsLiving(input, policy), problems: [] };
  const uses = usesOf(input, policy);
  if (uses.length === 0) return { resolved, desires, problems: [] };
  const facts = await inspectAll(verifier, uses);
  const decisions = uses.map((use) => ({
    use,
    decision: decide({ ...use, image: use.request.image, pin: policy.pin }, facts(use)),
  }));
  const found = findingsByOwner(decisions);
  const errors = new Map(
    found.flatMap(([owner, findings]) => (findings.some(holdsChildren) ? [[owner, findings]] : [])),
  );
  const warnings = found.filter(([owner]) => !errors.has(owner));
  const refused = refuseUnread(resolved, errors);
  const heldKeys = new Set([...errors.keys()].map(({ id }) => keyOf(id)));
  const pins = pinsByChild(decisions);
  const objects = desires.objects
    .filter(({ owner }) => owner === undefined || !heldKeys.has(keyOf(owner)))
    .map((child) => pinned(child, pins.get(child.key), input.reuse));
  const held = [...errors.keys()].map(({ id }) => heldOwner(id));
  return {
    resolved: refused.resolved,
    desires: { ...desires, objects, heldOwners: new Set([...desires.heldOwners, ...held]) },
    problems: [
      ...refused.problems,
      ...warnings.flatMap(([owner, findings]) => findings.map((finding) => problemOf(owner, finding))),
    ],
  };
}

function holdsChildren({ severity }: Finding): boolean {
  return severity === 'error';
}

function usesOf({ own, entries, resolved, desires }: VerifyInput, policy: ImagePolicy): readonly Use[] {
  const owners = new Map(resolved.standings.map(({ loaded }) => [keyOf(loaded.id), loaded]));
  const accounts = accountSecrets(desires);
  const entriesOf = remembered(entries);
  return desires.objects.flatMap((child): Use[] => {
    const owner = child.owner === undefined ? undefined : owners.get(keyOf(child.owner));
    const namespace = child.id.namespace ?? '';
    const mode = modeFor(policy, namespace);
    const pod = owner === undefined || mode === 'off' ? undefined : podImages(child.object);
    if (owner === undefined || pod === undefined) return [];
    const pullSecrets = [
      ...new Set([...pod.pullSecrets, ...(accounts.get(`${namespace}/${pod.serviceAccount}`) ?? [])]),
    ];
    return pod.images.flatMap((image): Use[] => {
      const expected = expectedOf(policy, image, entriesOf(namespace));
      if (expected.by !== 'rule' && own.includes(image)) return [];
      const keyFiles = expected.by === 'rule' ? expected.all.flatMap(({ keyFile }) => keyFile ?? []) : [];
      const all = 'all' in expected ? expected.all : [];
      const isEnough: ImageRequest['isEnough'] = (facts) => all.length > 0 && unfulfilled(all, facts).length === 0;
      return [{ child, owner, mode, expected, request: { image, keyFiles, namespace, pullSecrets, isEnough } }];
    });
  });
}

/** Returns a function that computes the result for each namespace once. */
function remembered<T>(find: (namespace: string) => T): (namespace: string) => T {
  const found = new Map<string, T>();
  return (namespace) => {
    const value = found.has(namespace) ? (found.get(namespace) as T) : find(namespace);
    found.set(namespace, value);
    return value;
  };
}

/** Returns the pull secrets of each service account. Kubernetes adds them to pods of the account. */
function accountSecrets({ objects }: Desires): ReadonlyMap<string, readonly string[]> {
  return new Map(
    objects
      .filter(({ id }) => id.kind === 'ServiceAccount')
      .map(({ object, id }) => [
        `${id.namespace ?? ''}/${id.name}`,
        podImages({ ...object, kind: 'Pod', spec: { imagePullSecrets: object.imagePullSecrets ?? [] } })?.pullSecrets ??
          [],
      ]),
  );
}

/** Sends each distinct request once. Images without an expectation cause no request. */
async function inspectAll(
  verifier: ImageVerifier,
  uses: readonly Use[],
): Promise<(use: Use) => ImageFacts | undefined> {
  const limit = pLimit(AT_ONCE);
  const asked = new Map<string, ImageFacts>();
  const requests = new Map(
    uses.flatMap(({ expected, request }) =>
      expected.by === 'rule' || expected.by === 'entry' ? [[JSON.stringify(request), request] as const] : [],
    ),
  );
  await Promise.all(
    [...requests].map(([key, request]) => limit(async () => asked.set(key, await verifier.inspect(request)))),
  );
  return ({ request }) => asked.get(JSON.stringify(request));
}

interface Decided {
  readonly use: Use;
  readonly decision: ImageDecision;
}

/** Returns the findings by owner. Children that run the same image share one finding. */
function findingsByOwner(decisions: readonly Decided[]): readonly (readonly [Sourced, readonly Finding[]])[] {
  const found = new Map<Sourced, readonly Finding[]>();
  for (const { use, decision } of decisions) {
    if (decision.problem === undefined) continue;
    const finding = { ...decision.problem, pointer: imagePointer(use.owner, use.request.image) };
    const before = found.get(use.owner) ?? [];
    if (!before.some((each) => jsonEquals(each, finding))) found.set(use.owner, [...before, finding]);
  }
  return [...found];
}

function imagePointer({ kind, defaulted }: Sourced, image: string): string {
  if (kind === undefined || defaulted === undefined) return '';
  return kind.images(defaulted).find((each) => each.image === image)?.pointer ?? '';
}

type Pins = ReadonlyMap<string, Pin>;

function pinsByChild(decisions: readonly Decided[]): ReadonlyMap<string, Pins> {
  const pins = new Map<string, Map<string, Pin>>();
  for (const { use, decision } of decisions) {
    if (decision.pin === undefined) continue;
    const { key } = use.child;
    pins.set(key, (pins.get(key) ?? new Map<string, Pin>()).set(use.request.image, decision.pin));
  }
  return pins;
}

/**
 * Pins children to the digests of their live objects. A plan that reads no registry assumes that tags have not moved.
 */
function pinnedAsLiving({ desires, living, reuse }: VerifyInput, policy: ImagePolicy): Desires {
  const objects = desires.objects.map((child) => {
    if (child.owner === undefined || modeFor(policy, child.id.namespace ?? '') === 'off') return child;
    const live = living(child.id);
    const images = (live && podImages(live)?.images) ?? [];
    const lines = live?.metadata.annotations?.[SIGNED_IMAGES]?.split('\n') ?? [];
    const pins = (podImages(child.object)?.images ?? []).flatMap((image) => {
      const name = images.find((each) => each.startsWith(`${image}@sha256:`));
      if (name === undefined) return [];
      const line = lines.find((each) => each.startsWith(`${name}: `));
      const provenance = readProvenance(live?.metadata.annotations, name);
      return [[image, { name, evidence: line?.slice(name.length + 2) ?? '', provenance }] as const];
    });
    return pinned(child, pins.length === 0 ? undefined : new Map(pins), reuse);
  });
  return { ...desires, objects };
}

/**
 * Returns the child with its pins. Equal input returns the identical object, so that later stages reuse their results.
 */
function pinned(child: Desired, pins: Pins | undefined, reuse: Reuse): Desired {
  if (pins === undefined) return child;
  const object = reuse.result({
    stage: 'pinned',
    key: child.key,
    given: [child.object, JSON.stringify([...pins])],
    questions: {},
    work: () => withPins(child.object, pins),
    equal: jsonEquals,
  });
  return { ...child, object };
}

function withPins(object: KubeObject, pins: Pins): KubeObject {
  const names = new Map([...pins].map(([image, { name }]) => [image, name]));
  const { metadata, ...rest } = withImages(object, names);
  const lines = [...pins.values()].map(({ name, evidence }) => `${name}: ${evidence}`).sort();
  const provenance = formatProvenance(new Map([...pins.values()].map((pin) => [pin.name, pin.provenance])));
  const annotations = {
    ...metadata.annotations,
    [SIGNED_IMAGES]: lines.join('\n'),
    ...(provenance === undefined ? {} : { [IMAGE_PROVENANCE]: provenance }),
  };
  return { ...rest, metadata: { ...metadata, annotations } };
}
