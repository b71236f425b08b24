// Finds what is wrong with an MCPServerEntry that neither its schema nor CEL can say: in itself (rules), and with what it names
// (inspect).

import { cidrContains, type Ip, isMapped, parseCidr, parseIp } from '#kubernetes/rules/formats/ip.ts';
import type { Static } from '#std/schema.ts';
import { bundleReferences, certificatesFault } from '../auth/ca-bundle.ts';
import { authHeaderFindings, headerFindings } from '../auth/header-findings.ts';
import type { Finding, View } from '../kind.ts';
import { remoteUrlFindings } from '../proxy/remote-url.ts';
import { strategyOf } from '../virtualmcpserver/strategies.ts';
import type { MCPServerEntrySpec } from './schema.ts';

interface Entry {
  readonly spec: Static<typeof MCPServerEntrySpec>;
}

const POINTER = '/spec/remoteUrl';

export function rules({ spec }: Entry): readonly Finding[] {
  const faults = remoteUrlFindings(spec.remoteUrl, POINTER);
  return [
    ...(faults.length > 0 ? faults : placeFindings(spec)),
    ...headerFindings(spec.headerForward, '/spec/headerForward'),
  ];
}

export function inspect({ spec }: Entry, view: View): readonly Finding[] {
  const { externalAuthConfigRef: ref, headerForward, caBundleRef } = spec;
  const converted = ref === undefined ? undefined : strategyOf(ref.name, view);
  const pointer = '/spec/externalAuthConfigRef/name';
  return [
    ...(converted !== undefined && 'fault' in converted
      ? [{ code: 'backend-auth-unusable', severity: 'error', pointer, message: converted.fault } as const]
      : []),
    ...authHeaderFindings(headerForward, ref, view, '/spec/headerForward'),
    ...bundleReferences(caBundleRef, '/spec/caBundleRef').flatMap((reference): readonly Finding[] => {
      const message = certificatesFault(reference, view);
      return message === undefined
        ? []
        : [{ code: 'ca-bundle-invalid', severity: 'error', pointer: reference.pointer, message }];
    }),
  ];
}

/** The node itself, link-local addresses with the metadata services of clouds, and unspecified ones. */
const NEVER = ranges('127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10', '0.0.0.0/8', '::/128', 'fd00:ec2::/32');
/** RFC 1918, 4193 and 6598. */
const PRIVATE = ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7');

/** Names of the node, of the API server and of metadata services. */
const NEVER_NAMES =
  /^(.+\.)?localhost$|^kubernetes(\.default(\.svc(\.cluster\.local)?)?)?$|^metadata(\.google\.internal)?$/;
const CLUSTER_NAME = /(^|\.)cluster\.local$/;

/** By what is written: a name is not resolved. */
function placeFindings({ remoteUrl, allowPrivateEndpoint }: Entry['spec']): readonly Finding[] {
  const host = new URL(remoteUrl).hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, '');
  const ip = addressIn(host);
  const isIn = (places: readonly Range[]) => ip !== undefined && places.some((range) => cidrContains(range, ip));
  const code = 'remote-url-invalid';
  if (isIn(NEVER) || NEVER_NAMES.test(host)) {
    const message = `${host} is the node itself, a metadata service or the API server: no entry may name it`;
    return [{ code, severity: 'error', pointer: POINTER, message }];
  }
  if (allowPrivateEndpoint || !(isIn(PRIVATE) || CLUSTER_NAME.test(host))) return [];
  const message = `${host} is inside a private network: set allowPrivateEndpoint to true if virtual servers are to call it`;
  return [{ code, severity: 'error', pointer: POINTER, message }];
}

/** An address of IPv4 that is written as one of IPv6 counts as itself (RFC 4291 section 2.5.5.2). */
function addressIn(host: string): Ip | undefined {
  const ip = parseIp(host);
  return ip !== undefined && isMapped(ip) ? { version: 4, bits: ip.bits & 0xffff_ffffn } : ip;
}

type Range = NonNullable<ReturnType<typeof parseCidr>>;

function ranges(...texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}
