// Tests which attestations are shown: expected attestations that make a statement about the image.

import { expect, test } from 'vitest';
import { formatProvenance, readProvenance } from '#contracts/registry/image-provenance.ts';
import { expectedProvenance } from './policy.ts';
import type { ImageSignature } from './ports.ts';

const BUILDER = { issuer: 'https://issuer.example', repository: 'https://github.com/acme/wiki', identity: 'builder' };
const EXPECTED = [{ issuer: BUILDER.issuer, repository: BUILDER.repository }];
const SLSA = 'https://slsa.dev/provenance/v1';
const SPDX = 'https://spdx.dev/Document';

function shown(signatures: readonly ImageSignature[], all: Parameters<typeof expectedProvenance>[0] = EXPECTED) {
  const facts = { state: 'known' as const, digest: '', signatures, faults: [], documents: [] };
  return expectedProvenance(all, facts).map(({ predicateType }) => predicateType);
}

test.each<{ reason: string; signatures: ImageSignature[]; expected: string[] }>([
  { reason: 'a signature alone', signatures: [BUILDER], expected: [] },
  {
    reason: 'a signature of cosign, which is an attestation by its form',
    signatures: [{ ...BUILDER, predicateType: 'https://sigstore.dev/cosign/sign/v1' }],
    expected: [],
  },
  { reason: 'a provenance of the build', signatures: [BUILDER, { ...BUILDER, predicateType: SLSA }], expected: [SLSA] },
  {
    reason: 'the same twice',
    signatures: [
      { ...BUILDER, predicateType: SLSA },
      { ...BUILDER, predicateType: SLSA },
    ],
    expected: [SLSA],
  },
  {
    reason: 'an attestation of another repository',
    signatures: [{ ...BUILDER, repository: 'https://github.com/mallory/wiki', predicateType: SLSA }],
    expected: [],
  },
  {
    reason: 'an attestation that nothing demands',
    signatures: [{ ...BUILDER, predicateType: SPDX }],
    expected: [],
  },
])('$reason', ({ signatures, expected }) => {
  expect(shown(signatures)).toEqual(expected);
});

test('an attestation that a rule demands is shown', () => {
  expect(shown([{ ...BUILDER, predicateType: SPDX }], [{ ...EXPECTED[0], attestation: SPDX }])).toEqual([SPDX]);
});

test('an unreadable annotation of another author shows nothing', () => {
  const read = (text: string) => readProvenance({ 'skep.dev/image-provenance': text }, 'wiki:1');
  expect(['', 'x', '[]', '{"wiki:1":1}', '{"wiki:1":[{"repository":"a"}]}'].map(read)).toEqual([[], [], [], [], []]);
  expect(read('{"wiki:1":[{"predicateType":"a","identity":1}]}')).toEqual([{ predicateType: 'a' }]);
  expect(read('{"wiki:1":[{"predicateType":"a","identity":"\\ud800"},{"predicateType":"\\u0000"}]}')).toEqual([
    { predicateType: 'a' },
  ]);
  expect(formatProvenance(new Map([['wiki:1', []]]))).toBeUndefined();
});
