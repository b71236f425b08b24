// Creates faults of the configuration of an authorization server.

import { isLoopback } from '#std/address/loopback.ts';
import { Failure } from '#std/failure.ts';

export function configInvalid(pointer: string, what: string): Failure {
  return new Failure('issuer-config-invalid', `${pointer} ${what}`, { data: { pointer } });
}

/**
 * Returns true for https, and for http on loopback, because loopback traffic stays on the machine (RFC 8252 section
 * 8.3).
 */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
