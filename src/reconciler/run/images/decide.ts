// Decides whether one image may run, from its expected signers and the facts about it.

import type { ImageProvenance } from '#contracts/registry/image-provenance.ts';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { withDigest } from '#std/address/image-name.ts';
import {
  describeEvidence,
  describeExpectation,
  describeFound,
  type Expected,
  expectedProvenance,
  unfulfilled,
  type VerifyMode,
} from './policy.ts';
import type { ImageFacts } from './ports.ts';

export interface ImageDecision {
  /** Problem without its pointer; absent if the image has no problem. */
  readonly problem?: Omit<Finding, 'pointer'>;
  /** Name with digest that replaces the image in children; absent if the image is not pinned. */
  readonly pin?: Pin;
}

export interface Pin {
  /** Name of the image with its digest. */
  readonly name: string;
  /** Signers of the image and further documents, as one line for people. */
  readonly evidence: string;
  /** Attestations that the page of a catalogue shows. */
  readonly provenance: readonly ImageProvenance[];
}

export interface ImageRequirements {
  readonly image: string;
  readonly mode: VerifyMode;
  readonly expected: Expected;
  readonly pin: boolean;
}

/** Decides about one image. `facts` are undefined if no expectation exists, so that nothing was requested. */
export function decide(
  { image, mode, expected, pin }: ImageRequirements,
  facts: ImageFacts | undefined,
): ImageDecision {
  const problem = (code: string, message: string): ImageDecision => ({
    problem: { code, severity: mode === 'require' ? 'error' : 'warning', message: `${message}${CONSEQUENCE[mode]}` },
  });
  if (expected.by === 'nobody') {
    // In mode `warn`, one warning for each unsigned image would hide other warnings.
    if (mode !== 'require') return {};
    return problem(
      'image-signer-unknown',
      `neither a rule of images.verify nor a catalogue entry names a signer of image ${image}`,
    );
  }
  if (expected.by === 'unknown')
    return problem('image-signer-unknown', `the signer of image ${image} is not known: ${expected.reason}`);
  if (facts === undefined || facts.state === 'unknown') {
    return problem(
      'image-not-checked',
      `image ${image} could not be verified: ${facts?.reason ?? 'no facts were requested'}`,
    );
  }
  const missing = unfulfilled(expected.all, facts);
  if (missing.length > 0 || expected.all.length === 0) {
    const expectations = missing.map(describeExpectation).join(' and ');
    return problem(
      'image-unverified',
      `image ${image} (${facts.digest}) is not verified: expected ${expectations}; found ${describeFound(facts)}`,
    );
  }
  if (mode !== 'require' && !pin) return {};
  return {
    pin: {
      name: withDigest(image, facts.digest),
      evidence: describeEvidence(expected.all, facts),
      provenance: expectedProvenance(expected.all, facts),
    },
  };
}

const CONSEQUENCE: Readonly<Record<VerifyMode, string>> = {
  off: '',
  warn: '',
  require: '. The children are kept unchanged',
};
