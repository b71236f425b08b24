// Converts cosign's signatures to bundles. cosign stores them under the tags `.sig` and `.att` of an image: the
// signature in annotations of a layer, the signed payload in the layer's blob.

import { sha256 } from '#std/hash.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import type { Descriptor } from './registry.ts';

const SIGNATURE = 'dev.cosignproject.cosign/signature';
const CERTIFICATE = 'dev.sigstore.cosign/certificate';
const LOG_ENTRY = 'dev.sigstore.cosign/bundle';
const TIMESTAMP = 'dev.sigstore.cosign/rfc3161timestamp';

/**
 * Bundle version that requires only a promise of inclusion for log entries. cosign stores no other proof under its
 * tags.
 */
const BUNDLE = 'application/vnd.dev.sigstore.bundle+json;version=0.1';

export const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json';
export const ENVELOPE = 'application/vnd.dsse.envelope.v1+json';

/** Returns undefined if the layer has no signature. */
export function bundleOfLayer({ mediaType, annotations }: Descriptor, blob: Uint8Array): JsonObject | undefined {
  const material = {
    ...keyMaterial(annotations[CERTIFICATE]),
    ...logMaterial(annotations),
    ...timeMaterial(annotations),
  };
  if (mediaType === ENVELOPE) {
    const envelope = parseJson(Buffer.from(blob).toString('utf8'));
    return isObject(envelope)
      ? { mediaType: BUNDLE, verificationMaterial: material, dsseEnvelope: envelope }
      : undefined;
  }
  const signature = annotations[SIGNATURE];
  if (mediaType !== SIMPLE_SIGNING || signature === undefined) return undefined;
  const messageDigest = { algorithm: 'SHA2_256', digest: Buffer.from(sha256(blob), 'hex').toString('base64') };
  return { mediaType: BUNDLE, verificationMaterial: material, messageSignature: { messageDigest, signature } };
}

function keyMaterial(certificate: string | undefined): JsonObject {
  if (certificate === undefined || certificate === '') return { publicKey: { hint: 'key' } };
  const [, body = ''] = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/.exec(certificate) ?? [];
  return { x509CertificateChain: { certificates: [{ rawBytes: body.replace(/\s/g, '') }] } };
}

function logMaterial(annotations: Readonly<Record<string, string>>): JsonObject {
  const entry = parseJson(annotations[LOG_ENTRY] ?? '');
  const payload = isObject(entry) && isObject(entry.Payload) ? entry.Payload : undefined;
  if (!isObject(entry) || payload === undefined) return { tlogEntries: [] };
  const { body, integratedTime, logIndex, logID } = payload;
  const record = parseJson(Buffer.from(String(body), 'base64').toString('utf8'));
  const { kind = '', apiVersion = '' } = isObject(record) ? record : {};
  return {
    tlogEntries: [
      {
        logIndex: String(logIndex),
        logId: { keyId: Buffer.from(String(logID), 'hex').toString('base64') },
        kindVersion: { kind: String(kind), version: String(apiVersion) },
        integratedTime: String(integratedTime),
        inclusionPromise: { signedEntryTimestamp: String(entry.SignedEntryTimestamp) },
        canonicalizedBody: String(body),
      },
    ],
  };
}

function timeMaterial(annotations: Readonly<Record<string, string>>): JsonObject {
  const time = parseJson(annotations[TIMESTAMP] ?? '');
  const signedTimestamp = isObject(time) ? time.SignedRFC3161Timestamp : undefined;
  if (typeof signedTimestamp !== 'string') return {};
  return { timestampVerificationData: { rfc3161Timestamps: [{ signedTimestamp }] } };
}

/** Returns the image digest in a payload of cosign ("simple signing"). */
export function signedDigest(blob: Uint8Array): string | undefined {
  const payload = parseJson(Buffer.from(blob).toString('utf8'));
  const critical = isObject(payload) ? payload.critical : undefined;
  const image = isObject(critical) ? critical.image : undefined;
  const digest = isObject(image) ? image['docker-manifest-digest'] : undefined;
  return typeof digest === 'string' ? digest : undefined;
}
