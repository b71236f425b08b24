// Defines the facts about an image in its registry, and the port that reads them.

/**
 * A valid signature or attestation: its mathematics, its certificate and its log entry were checked, but not yet
 * whether its signer is expected.
 */
export interface ImageSignature {
  /** File with the public key that verifies the signature; absent if the signature has a certificate. */
  readonly keyFile?: string;
  /** Subject alternative name of the certificate. */
  readonly identity?: string;
  /** Issuer of the token that the certificate was issued for. */
  readonly issuer?: string;
  /** Source repository in the certificate. */
  readonly repository?: string;
  /** Git reference of the source in the certificate. */
  readonly ref?: string;
  /** Environment of the runner in the certificate. */
  readonly runner?: string;
  /** Predicate type of an attestation; absent for a signature. */
  readonly predicateType?: string;
}

/** A document about the image in its registry: an SBOM, or a description of the build. */
export interface ImageDocument {
  /** Artifact type or predicate type. */
  readonly type: string;
  readonly digest: string;
}

export type ImageFacts =
  | {
      readonly state: 'known';
      /** Digest of the manifest or index that the name stands for. */
      readonly digest: string;
      readonly signatures: readonly ImageSignature[];
      /** Reasons why other signatures are invalid, one clause each. */
      readonly faults: readonly string[];
      readonly documents: readonly ImageDocument[];
    }
  /** `reason` states in one clause why the registry could not be read, or why its response could not be used. */
  | { readonly state: 'unknown'; readonly reason: string };

export interface ImageRequest {
  /** Name in the manifest. */
  readonly image: string;
  /** Files with public keys that may verify signatures, in addition to certificates. */
  readonly keyFiles: readonly string[];
  readonly namespace: string;
  /** Secrets of the namespace with credentials for registries. */
  readonly pullSecrets: readonly string[];
  /**
   * Returns true if the facts fulfil all expectations. Such facts are kept; insufficient facts are requested again
   * soon.
   */
  readonly isEnough: (facts: KnownFacts) => boolean;
}

export type KnownFacts = Extract<ImageFacts, { readonly state: 'known' }>;

export interface ImageVerifier {
  /** Returns the facts. Does not throw for failures of the registry: then the facts are unknown. */
  inspect(request: ImageRequest): Promise<ImageFacts>;
}
