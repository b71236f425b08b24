// Loads the trusted certificate authorities.

import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';

export interface OwnAuthorities {
  /** Path of a PEM file, which is read once. */
  readonly caFile?: string;
  /** PEM text. */
  readonly ca?: string;
}

/**
 * Returns the system's certificates and the configured certificates. undefined if none are configured. Throws Failure
 * `outbound-ca-invalid`.
 */
export function trustedRoots({ ca, caFile }: OwnAuthorities): readonly string[] | undefined {
  const own = [
    ...(ca === undefined ? [] : [checkedPem(ca, 'the given CA')]),
    ...(caFile === undefined ? [] : [readPem(caFile)]),
  ];
  return own.length === 0 ? undefined : [...getCACertificates('default'), ...own];
}

function readPem(file: string): string {
  try {
    return checkedPem(textOfFile(readFileSync(file), file, 'outbound-ca-invalid'), file);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('outbound-ca-invalid', `CA file ${file} cannot be read`, { data: { file }, cause });
  }
}

/** Throws Failure `outbound-ca-invalid` if the text contains no certificate. */
export function checkedPem(text: string, where: string): string {
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Failure('outbound-ca-invalid', `${where} holds no PEM certificate`, { data: { where } });
}
