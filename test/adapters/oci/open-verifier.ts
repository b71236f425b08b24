// Opens a verifier of images over a registry of the test, with the trusted root of its instance of Sigstore.

import type { Outbound } from '#adapters/http/outbound.ts';
import { type KeepingVerifier, openVerifier, type VerifierOptions } from '#adapters/oci/verifier.ts';
import type { TestRegistry } from './registry.ts';
import type { Sigstore } from './signer.ts';

interface Around {
  readonly registry: TestRegistry;
  readonly outbound: Outbound;
  /** Another one may take its place while the verifier is open. */
  readonly sigstore: () => Sigstore;
  readonly now: () => number;
}

/** A tag is resolved again after this time. */
export const REFRESH_MS = 300_000;

export function openTestVerifier(
  { registry, outbound, sigstore, now }: Around,
  more: Partial<VerifierOptions> = {},
): KeepingVerifier {
  return openVerifier({
    outbound,
    plainHttp: [registry.host],
    realms: {},
    now,
    root: async () => sigstore().root,
    readKeys: async () => 'no key',
    pullSecret: async () => undefined,
    refreshMs: REFRESH_MS,
    ...more,
  });
}
