// Tests the addresses that the guard refuses, and the settings that permit them.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { createAddressGuard } from './addresses.ts';

function check(row: { readonly address: string; readonly allow?: readonly string[]; readonly refused: string }): void {
  expect(createAddressGuard(row.allow ?? [])(row.address) ?? 'permitted').toBe(row.refused);
}

test.each([
  { address: '8.8.8.8', refused: 'permitted', reason: 'a public IPv4 address' },
  { address: '172.32.0.1', refused: 'permitted', reason: 'just after the private 172.16/12' },
  { address: '100.128.0.1', refused: 'permitted', reason: 'just after 100.64/10' },
  { address: '2606:4700:4700::1111', refused: 'permitted', reason: 'a public IPv6 address' },
  { address: '::ffff:8.8.8.8', refused: 'permitted', reason: 'a public IPv4 address in its IPv6 form' },
  { address: '0.0.0.0', refused: 'an address of "this network"', reason: 'Linux connects it to the host itself' },
  { address: '10.1.2.3', refused: 'a private address', reason: 'RFC 1918' },
  { address: '100.64.0.1', refused: 'a carrier-grade NAT address', reason: 'RFC 6598' },
  { address: '127.0.0.1', refused: 'a loopback address', reason: 'the host itself' },
  { address: '127.255.255.254', refused: 'a loopback address', reason: 'all of 127/8 is the host itself' },
  { address: '169.254.169.254', refused: 'a link-local address', reason: 'cloud metadata' },
  { address: '172.31.255.255', refused: 'a private address', reason: 'the end of 172.16/12' },
  { address: '192.0.0.8', refused: 'an address for protocol assignments', reason: 'RFC 6890' },
  { address: '192.168.1.1', refused: 'a private address', reason: 'RFC 1918' },
  { address: '198.19.255.255', refused: 'a benchmarking address', reason: 'the end of 198.18/15' },
  { address: '224.0.0.1', refused: 'a multicast address', reason: 'RFC 5771' },
  { address: '255.255.255.255', refused: 'a reserved address', reason: 'broadcast' },
  { address: '::', refused: 'the unspecified address', reason: 'connects to the host itself' },
  { address: '::1', refused: 'a loopback address', reason: 'the host itself' },
  { address: '[::1]', refused: 'a loopback address', reason: 'as a URL writes it' },
  {
    address: '::7f00:1',
    refused: 'a reserved address',
    reason: 'IPv4-compatible 127.0.0.1 (RFC 4291 section 2.5.5.1)',
  },
  { address: '::ffff:127.0.0.1', refused: 'a loopback address', reason: 'IPv4-mapped' },
  {
    address: '0:0:0:0:0:ffff:a9fe:a9fe',
    refused: 'a link-local address',
    reason: 'IPv4-mapped metadata address, long form',
  },
  { address: '64:ff9b::a00:1', refused: 'a NAT64 address', reason: '10.0.0.1 through a translator' },
  { address: '64:ff9b:1::1', refused: 'a NAT64 address', reason: 'RFC 8215' },
  { address: '2002:a00:1::', refused: 'a 6to4 address', reason: '10.0.0.1 through a relay' },
  { address: '2001:0:1::', refused: 'an address for protocol assignments', reason: 'Teredo' },
  { address: '2001:db8::1', refused: 'a documentation address', reason: 'RFC 3849' },
  { address: 'fd12:3456::1', refused: 'a unique local address', reason: 'fc00::/7' },
  { address: 'fe80::1%eth0', refused: 'a link-local address', reason: 'with a zone' },
  { address: 'febf::1', refused: 'a link-local address', reason: 'the end of fe80::/10' },
  { address: 'ff02::1', refused: 'a multicast address', reason: 'ff00::/8' },
  { address: '5f00::1', refused: 'a reserved address', reason: 'outside of 2000::/3' },
  { address: 'localhost', refused: 'no IP address', reason: 'names are looked up before' },
])('$address is $refused: $reason', check);

test.each([
  { address: '10.1.2.3', allow: ['10.0.0.0/8'], refused: 'permitted', reason: 'its range is named' },
  {
    address: '::ffff:10.1.2.3',
    allow: ['10.0.0.0/8'],
    refused: 'permitted',
    reason: 'a mapped address is its IPv4 address',
  },
  { address: '10.1.2.3', allow: ['::ffff:10.0.0.0/104'], refused: 'permitted', reason: 'so is a mapped range' },
  { address: '10.1.2.3', allow: ['::/0'], refused: 'a private address', reason: 'an IPv6 range opens no IPv4 address' },
  {
    address: '10.1.2.3',
    allow: ['10.1.2.4'],
    refused: 'a private address',
    reason: 'a single address opens only itself',
  },
  { address: '10.1.2.4', allow: ['10.1.2.4'], refused: 'permitted', reason: 'a single address' },
  { address: '64:ff9b::808:808', allow: ['64:ff9b::/96'], refused: 'permitted', reason: 'an IPv6-only network' },
  { address: 'fe80::1%eth0', allow: ['fe80::/10'], refused: 'permitted', reason: 'the zone does not matter' },
])('with $allow, $address is $refused: $reason', check);

test.each([
  { range: '10.0.0.0/33', reason: 'the prefix is too long' },
  { range: '10.0.0.0/', reason: 'the prefix is missing' },
  { range: '10.0.0.0/8/8', reason: 'two prefixes' },
  { range: '10.0.0.0/+8', reason: 'a sign' },
  { range: '10.0.0/8', reason: 'three bytes' },
  { range: 'internal', reason: 'a name' },
  { range: '', reason: 'nothing' },
])('"$range" is not a valid range: $reason', ({ range }) => {
  const failure = catchFailure(() => createAddressGuard([range]));
  expect([failure.code, failure.data.range]).toEqual(['outbound-invalid-range', range]);
});

function catchFailure(run: () => unknown): Failure {
  try {
    run();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
