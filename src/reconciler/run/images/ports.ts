// Defines the facts about an image in its registry, and the port that reads them.

/**
 * A signature or attestation whose cryptography, certificate and log entry are valid. Whether its signer is expected is
 * not checked yet.
 */
export interface ImageSignature {
  /** File with the public key that verifies the signature; absent if the signature has a certificate. */
  readonly keyFile?: string;
  /** Subject alternative name of the certificate. */
  readonly identity?: string;
  /** Issuer of the OIDC token for which the certificate was issued. */
  readonly issuer?: string;
  /** Source repository in the certificate. */
  readonly repository?: string;
  /** Git reference in the certificate. */
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
      /** Digest of the manifest or index to which the name refers. */
      readonly digest: string;
      readonly signatures: readonly ImageSignature[];
      /** Reasons why signatures are invalid, one clause each. */
      readonly faults: readonly string[];
      readonly documents: readonly ImageDocument[];
    }
  /** The facts could not be read. `reason` is a clause that says why. */
  | { readonly state: 'unknown'; readonly reason: string };

export interface ImageRequest {
  /** Image name in the manifest. */
  readonly image: string;
  /** Files with public keys that may verify signatures. */
  readonly keyFiles: readonly string[];
  readonly namespace: string;
  /** Names of the namespace's Secrets with credentials for registries. */
  readonly pullSecrets: readonly string[];
  /**
   * Returns true if the facts meet all expectations. Sufficient facts are cached. Insufficient facts are soon requested
   * again.
   */
  readonly isEnough: (facts: KnownFacts) => boolean;
}

export type KnownFacts = Extract<ImageFacts, { readonly state: 'known' }>;

export interface ImageVerifier {
  /** Returns the facts. If the registry fails, the facts have the state `unknown`; nothing is thrown. */
  inspect(request: ImageRequest): Promise<ImageFacts>;
}
