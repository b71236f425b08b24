// The facts about an image that its registry has, and the port that finds them out.

/** A signature or attestation that holds: its mathematics, its certificate and its log entry, not yet who was expected to sign. */
export interface ImageSignature {
  /** File with the public key that verifies it; absent: it has a certificate. */
  readonly keyFile?: string;
  /** Subject alternative name of the certificate. */
  readonly identity?: string;
  /** Issuer of the token that the certificate was issued for. */
  readonly issuer?: string;
  /** Source repository, by the certificate. */
  readonly repository?: string;
  /** Git reference of the source, by the certificate. */
  readonly ref?: string;
  /** Environment of the runner, by the certificate. */
  readonly runner?: string;
  /** Predicate type of an attestation; absent for a signature. */
  readonly predicateType?: string;
}

/** A document about the image in its registry: an SBOM, or how it was built. */
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
      /** Why others do not hold, one clause each. */
      readonly faults: readonly string[];
      readonly documents: readonly ImageDocument[];
    }
  /** Says in one clause why the registry could not be asked, or why its answer could not be used. */
  | { readonly state: 'unknown'; readonly reason: string };

export interface ImageRequest {
  /** Name in the manifest. */
  readonly image: string;
  /** Files with public keys, in addition to certificates. */
  readonly keyFiles: readonly string[];
  readonly namespace: string;
  /** Secrets of the namespace with credentials for registries. */
  readonly pullSecrets: readonly string[];
  /** Facts that fulfil all expectations are kept; others are asked for again soon. */
  readonly isEnough: (facts: KnownFacts) => boolean;
}

export type KnownFacts = Extract<ImageFacts, { readonly state: 'known' }>;

export interface ImageVerifier {
  /** Does not throw because of the registry: then the facts are unknown. */
  inspect(request: ImageRequest): Promise<ImageFacts>;
}
