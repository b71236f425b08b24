// Lists the certificate authorities that are trusted.

import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';

export interface OwnAuthorities {
  /** A PEM file; read once. */
  readonly caFile?: string;
  /** PEM text. */
  readonly ca?: string;
}

/**
 * Returns the system's and the given authorities, or undefined if no authority is given. Throws Failure
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

/** Throws Failure `outbound-ca-invalid` if no certificate is in the text. */
export function checkedPem(text: string, where: string): string {
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Failure('outbound-ca-invalid', `${where} holds no PEM certificate`, { data: { where } });
}
