import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuthority, createServerCertificate } from './certificate.ts';

const VALIDITY = { notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2055, 0, 1) };

test('a server certificate is signed by its authority, and valid for its hosts', () => {
  const authority = createAuthority('test-ca', VALIDITY);
  const ca = new X509Certificate(authority.certificate);
  const server = new X509Certificate(
    createServerCertificate(authority, 'test-ca', ['localhost', '127.0.0.1'], VALIDITY).certificate,
  );
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.verify(ca.publicKey)).toBe(true);
  expect(server.checkIssued(ca)).toBe(true);
  expect(server.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  expect(server.checkHost('localhost')).toBe('localhost');
  expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(server.checkIP('127.0.0.2')).toBeUndefined();
  expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect([server.validFromDate.getTime(), server.validToDate.getTime()]).toEqual([
    VALIDITY.notBefore,
    VALIDITY.notAfter,
  ]);
});

test('the certificate of one authority is not valid for another authority with the same name', () => {
  const one = createAuthority('same', VALIDITY);
  const other = new X509Certificate(createAuthority('same', VALIDITY).certificate);
  const server = new X509Certificate(createServerCertificate(one, 'same', ['localhost'], VALIDITY).certificate);
  expect(server.verify(other.publicKey)).toBe(false);
});
