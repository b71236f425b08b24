// Finds the signatures and attestations of an image in its registry, through referrers and cosign's tags.

import type { ImageDocument, ImageSignature, KnownFacts } from '#reconciler/run/images/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import { bundleOfLayer, ENVELOPE, SIMPLE_SIGNING, signedDigest } from './cosign.ts';
import { type Descriptor, descriptorsIn, type Manifest, type Repository } from './registry.ts';
import { checkBundle, type Trust } from './sigstore.ts';

/** Maximum number of referrers, and of layers, that are read. Everyone with push permission could add any number. */
const LOOKED_AT_MAX = 30;

const BUNDLE_TYPE = /^application\/vnd\.dev\.sigstore\.bundle[.+]/;
const DOCUMENT_TYPE = /spdx|cyclonedx|in-toto|slsa/i;

interface Findings {
  readonly signatures: ImageSignature[];
  readonly faults: string[];
  readonly documents: ImageDocument[];
}

/** Searches until `isEnough` returns true. Throws Failures of the registry. */
export async function findSignatures(
  repository: Repository,
  image: Manifest,
  trust: Trust,
  isEnough: (facts: KnownFacts) => boolean,
): Promise<KnownFacts> {
  const found: Findings = { signatures: [], faults: [], documents: [] };
  const facts = (): KnownFacts => ({ state: 'known', digest: image.digest, ...found });
  for (const look of [lookAtReferrers, lookAtTag('sig'), lookAtTag('att')]) {
    await look(repository, image, trust, found);
    if (isEnough(facts())) break;
  }
  return facts();
}

type SignatureSearch = (repository: Repository, image: Manifest, trust: Trust, found: Findings) => Promise<void>;

const lookAtReferrers: SignatureSearch = async (repository, image, trust, found) => {
  const referrers = (await repository.referrers(image.digest)).slice(0, LOOKED_AT_MAX);
  for (const { digest, artifactType = '' } of referrers) {
    if (DOCUMENT_TYPE.test(artifactType)) found.documents.push({ type: artifactType, digest });
    else await noteFaults(found, () => checkReferrer(repository, image, trust, digest));
  }
};

/** Reads the type from the manifest, because some registries list the type of the manifest's configuration instead. */
async function checkReferrer(
  repository: Repository,
  image: Manifest,
  trust: Trust,
  digest: string,
): Promise<readonly (ImageSignature | string)[]> {
  const manifest = await repository.manifest(digest);
  if (manifest === undefined) return [];
  const { subject, layers } = manifest.content;
  const bundles = descriptorsIn(layers).filter(({ mediaType }) => BUNDLE_TYPE.test(mediaType));
  if (bundles.length === 0) return [];
  if (!isObject(subject) || subject.digest !== image.digest) return ['a bundle for another digest'];
  return Promise.all(
    bundles.slice(0, LOOKED_AT_MAX).map(async (layer) => {
      const bundle = parseJson(Buffer.from(await repository.blob(layer.digest)).toString('utf8'));
      return isObject(bundle) ? check(trust, image, bundle, image.bytes) : 'a bundle that is not JSON';
    }),
  );
}

function lookAtTag(suffix: 'sig' | 'att'): SignatureSearch {
  return async (repository, image, trust, found) => {
    const manifest = await repository.manifest(`${image.digest.replace(':', '-')}.${suffix}`);
    if (manifest === undefined) return;
    for (const layer of descriptorsIn(manifest.content.layers).slice(0, LOOKED_AT_MAX)) {
      if (layer.mediaType !== SIMPLE_SIGNING && layer.mediaType !== ENVELOPE) continue;
      await noteFaults(found, async () => [await checkLayer(repository, image, trust, layer)]);
    }
  };
}

async function checkLayer(
  repository: Repository,
  image: Manifest,
  trust: Trust,
  layer: Descriptor,
): Promise<ImageSignature | string> {
  const blob = await repository.blob(layer.digest);
  if (layer.mediaType === SIMPLE_SIGNING && signedDigest(blob) !== image.digest)
    return 'a signature for another digest';
  const bundle = bundleOfLayer(layer, blob);
  return bundle === undefined ? 'a signature that cannot be read' : check(trust, image, bundle, blob);
}

function check(trust: Trust, { digest }: Manifest, bundle: JsonObject, artifact: Uint8Array): ImageSignature | string {
  return checkBundle(trust, { bundle, artifact, digest });
}

/**
 * Records content with a wrong digest, or content that is too large, as a fault of the signature. Throws other
 * failures.
 */
async function noteFaults(found: Findings, work: () => Promise<readonly (ImageSignature | string)[]>): Promise<void> {
  try {
    for (const result of await work()) {
      if (typeof result === 'string') found.faults.push(result);
      else found.signatures.push(result);
    }
  } catch (error) {
    if (!(error instanceof Failure) || (error.code !== 'image-content' && error.code !== 'outbound-too-large'))
      throw error;
    found.faults.push(`a signature that does not hold: ${error.message}`);
  }
}
