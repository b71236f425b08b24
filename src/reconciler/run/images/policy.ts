// Determines the expected signers of an image, and whether a signature meets the expectation.

import type { ImageProvenance } from '#contracts/registry/image-provenance.ts';
import { imagePlace, parseImageName } from '#std/address/image-name.ts';
import type { JsonObject } from '#std/json.ts';
import { globMatches, parseGlob } from '#std/patterns/glob.ts';
import type { ImageSignature, KnownFacts } from './ports.ts';

export type VerifyMode = 'off' | 'warn' | 'require';

interface ImageRule {
  /** Glob for the image name with registry and without tag. */
  readonly image: string;
  readonly keyFile?: string;
  /** Glob for the subject alternative name of the certificate. */
  readonly identity?: string;
  readonly issuer?: string;
  readonly repository?: string;
  /** Predicate type of a required attestation. If absent, a signature is enough. */
  readonly attestation?: string;
}

export interface ImagePolicy {
  readonly mode: VerifyMode;
  /** Modes of namespaces; `name` is a glob. The first entry that matches a namespace replaces `mode`. */
  readonly namespaces: readonly { readonly name: string; readonly mode: VerifyMode }[];
  /** True if children run images by their verified digest in mode `warn`. In mode `require` they always do. */
  readonly pin: boolean;
  /** Rules; the first rule that matches an image applies. */
  readonly rules: readonly ImageRule[];
}

export interface Expectation extends Omit<ImageRule, 'image'> {
  readonly ref?: string;
  readonly runner?: string;
}

export type Expected =
  | { readonly by: 'rule' | 'entry'; readonly all: readonly Expectation[] }
  /** No rule and no catalogue entry names a signer of the image. */
  | { readonly by: 'nobody' }
  /** The signer cannot be determined. `reason` is a clause that says which fact is missing. */
  | { readonly by: 'unknown'; readonly reason: string };

/** Provenances of catalogue entries, by image with registry and tag. */
export type EntryProvenance = ReadonlyMap<string, readonly JsonObject[]>;

/** Groups provenances by the full name of the image, because entries may omit the default registry and tag. */
export function byWholeName(provenances: Iterable<readonly [image: string, provenance: JsonObject]>): EntryProvenance {
  const found = new Map<string, JsonObject[]>();
  for (const [image, provenance] of provenances) {
    const name = parseImageName(image);
    if (name === undefined) continue;
    const whole = `${imagePlace(name)}:${name.tag ?? ''}`;
    found.set(whole, [...(found.get(whole) ?? []), provenance]);
  }
  return found;
}

export function modeFor({ mode, namespaces }: ImagePolicy, namespace: string): VerifyMode {
  return namespaces.find(({ name }) => matchesGlob(name, namespace))?.mode ?? mode;
}

export function expectedOf(
  { rules }: Pick<ImagePolicy, 'rules'>,
  image: string,
  entries: EntryProvenance | undefined,
): Expected {
  const name = parseImageName(image);
  if (name === undefined)
    return { by: 'unknown', reason: 'its name is not an image name with a tag or a SHA-256 digest' };
  const place = imagePlace(name);
  const rule = rules.find((each) => matchesGlob(each.image, place));
  if (rule !== undefined) {
    const { image: _glob, ...expectation } = rule;
    return { by: 'rule', all: [expectation] };
  }
  if (entries === undefined) {
    return {
      by: 'unknown',
      reason: 'a registry of the namespace could not be read, or was never synced, and may have an entry for it',
    };
  }
  const provenances = entries.get(`${place}:${name.tag ?? ''}`) ?? [];
  if (provenances.length === 0) return { by: 'nobody' };
  const all = provenances.flatMap((provenance) => entryExpectation(provenance) ?? []);
  if (all.length < provenances.length) {
    return {
      by: 'unknown',
      reason:
        'its catalogue entry has a provenance without cert_issuer, or without both repository_uri and signer_identity',
    };
  }
  return { by: 'entry', all };
}

/**
 * Returns the expectation from the provenance of a catalogue entry. undefined if the provenance names no signer. If the
 * signer is a path, it stands for a workflow of the repository at any Git reference.
 */
function entryExpectation(provenance: JsonObject): Expectation | undefined {
  const text = (key: string): string | undefined => {
    const value = provenance[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [issuer, repository, signer] = [text('cert_issuer'), text('repository_uri'), text('signer_identity')];
  const isPath = signer?.startsWith('/') === true;
  if (issuer === undefined || (repository === undefined && (signer === undefined || isPath))) return undefined;
  const whole = isPath ? `${plainRepository(repository ?? '')}${signer}` : signer;
  const identity = whole === undefined ? undefined : escapeGlob(whole) + (isPath ? '@*' : '');
  return { issuer, identity, repository, ref: text('repository_ref'), runner: text('runner_environment') };
}

function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{}!,]/g, '\\$&');
}

function plainRepository(url: string): string {
  return url
    .replace(/^git\+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
}

function isExpected(signature: ImageSignature, expectation: Expectation): boolean {
  const { keyFile, identity, issuer, repository, ref, runner, attestation } = expectation;
  // A certificate identifies a signer only together with its issuer.
  if (keyFile === undefined && (issuer === undefined || (identity === undefined && repository === undefined)))
    return false;
  const same = (expected: string | undefined, found: string | undefined): boolean =>
    expected === undefined || expected === found;
  return (
    signature.keyFile === keyFile &&
    same(issuer, signature.issuer) &&
    same(ref, signature.ref) &&
    same(runner, signature.runner) &&
    saysWhat(attestation, signature.predicateType) &&
    (identity === undefined || (signature.identity !== undefined && matchesGlob(identity, signature.identity))) &&
    (repository === undefined ||
      (signature.repository !== undefined && plainRepository(repository) === plainRepository(signature.repository)))
  );
}

/**
 * Returns true if the attestation makes the expected statement. If no statement is expected, a signature or an
 * attestation about the build is enough: the builder of an image signs the image and the attestation. Other
 * attestations may say anything, such as that a scan found a vulnerability.
 */
function saysWhat(attestation: string | undefined, predicateType: string | undefined): boolean {
  if (attestation !== undefined) return attestation === predicateType;
  return predicateType === undefined || predicateType === SIGNED_BY_COSIGN || predicateType.startsWith(BUILT);
}

const SIGNED_BY_COSIGN = 'https://sigstore.dev/cosign/sign/v1';
const BUILT = 'https://slsa.dev/provenance/';

/** Returns the expectations that no signature meets. */
export function unfulfilled(all: readonly Expectation[], { signatures }: KnownFacts): readonly Expectation[] {
  return all.filter((expectation) => !signatures.some((signature) => isExpected(signature, expectation)));
}

/** Returns false for a malformed glob. */
function matchesGlob(pattern: string, text: string): boolean {
  const glob = parseGlob(pattern);
  return glob !== undefined && globMatches(glob, text);
}

/** Returns a clause such as `a signature by identity X, issuer Y`. */
export function describeExpectation(expectation: Expectation): string {
  const { keyFile, identity, issuer, repository, ref, runner, attestation } = expectation;
  const parts = [
    keyFile === undefined ? undefined : `key ${keyFile}`,
    identity === undefined ? undefined : `identity ${identity.replace(/\\(.)/g, '$1')}`,
    issuer === undefined ? undefined : `issuer ${issuer}`,
    repository === undefined ? undefined : `repository ${repository}`,
    ref === undefined ? undefined : `reference ${ref}`,
    runner === undefined ? undefined : `runner ${runner}`,
  ];
  const what = attestation === undefined ? 'a signature' : `an attestation ${attestation}`;
  return `${what} by ${parts.filter((part) => part !== undefined).join(', ')}`;
}

export function describeFound({ signatures, faults }: KnownFacts): string {
  const clauses = [...signatures.map((signature) => describeSignature(signature)), ...faults];
  if (clauses.length === 0) return 'no signature and no attestation';
  const shown = clauses.slice(0, SHOWN_MAX);
  return [...shown, ...(clauses.length > SHOWN_MAX ? [`${clauses.length - SHOWN_MAX} more`] : [])].join('; ');
}

/** Returns a line with one signature per expectation, and with further documents by type and digest. */
export function describeEvidence(all: readonly Expectation[], { signatures, documents }: KnownFacts): string {
  const signed = all.flatMap((each) => signatures.find((signature) => isExpected(signature, each)) ?? []);
  const attached = documents.map(({ type, digest }) => `${type} ${digest}`).sort();
  return [...new Set(signed.map(describeSignature)), ...attached.slice(0, SHOWN_MAX)].join('; ');
}

/** Returns the expected attestations, without signatures of cosign: signatures make no statement about the image. */
export function expectedProvenance(
  all: readonly Expectation[],
  { signatures }: KnownFacts,
): readonly ImageProvenance[] {
  const found = signatures.flatMap((signature): readonly ImageProvenance[] => {
    const { predicateType, repository, identity } = signature;
    if (predicateType === undefined || predicateType === SIGNED_BY_COSIGN) return [];
    return all.some((each) => isExpected(signature, each)) ? [{ predicateType, repository, identity }] : [];
  });
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()].slice(0, SHOWN_MAX);
}

const SHOWN_MAX = 5;

function describeSignature({ predicateType, ...signer }: ImageSignature): string {
  return describeExpectation({ ...signer, attestation: predicateType });
}
