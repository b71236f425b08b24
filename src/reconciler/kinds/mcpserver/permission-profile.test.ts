// Tests how permission profiles of authors are read.

import { expect, test } from 'vitest';
import { viewOf } from '../../../../test/reconciler/kinds/fixture.ts';
import type { Server } from './facts.ts';
import { profileOf } from './permission-profile.ts';

function read(text: string) {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'profiles' }, data: { profile: text } };
  const spec = { permissionProfile: { type: 'configmap', name: 'profiles', key: 'profile' } };
  return profileOf({ spec } as Server, viewOf([object]));
}

const NOTHING = { all: false, networks: [], ports: [], names: [] };

test.each<[reason: string, text: string, outbound: object, unenforced: readonly string[]]>([
  ['an empty profile allows nothing', '{}', NOTHING, []],
  ['an empty text allows nothing', '', NOTHING, []],
  ['everything', 'network: {outbound: {insecureAllowAll: true, allowHost: [a]}}', { all: true }, []],
  [
    'everything, as older profiles say it',
    '{"network": {"outbound": {"insecure_allow_all": true}}}',
    { all: true },
    [],
  ],
  ['without network around it', 'outbound: {allowPort: [443]}', { ...NOTHING, ports: [443] }, []],
  [
    'addresses and networks, as they are',
    'network: {outbound: {allowHost: [10.1.2.3, 10.9.9.9/8, "2001:DB8::1"]}}',
    { ...NOTHING, networks: ['10.1.2.3/32', '10.0.0.0/8', '2001:db8::1/128'] },
    [],
  ],
  ['mode none wins', 'network: {mode: none, outbound: {insecureAllowAll: true}}', NOTHING, []],
  [
    'names',
    'network: {outbound: {allowHost: [.example.com, 10.1.2.3.4]}}',
    { ...NOTHING, names: ['.example.com', '10.1.2.3.4'] },
    [
      'Kubernetes limits egress by address, not by name: .example.com, 10.1.2.3.4 cannot be reached (allow addresses instead)',
    ],
  ],
  ['modes of other runtimes', 'network: {mode: host}', NOTHING, ['network mode host has no meaning for a pod']],
  [
    'further requests of older profiles',
    '{"read": ["/etc"], "write": [], "privileged": true}',
    NOTHING,
    ['read, privileged: not granted (use volumes and podTemplateSpec)'],
  ],
])('%s', (_reason, text, outbound, unenforced) => {
  expect(read(text)).toEqual({ outbound, unenforced });
});

test.each<[text: string, fault: string]>([
  ['[]', 'must be one object'],
  ['{}\n---\na: 1', 'must be one object'],
  ['network: all', 'network must be an object'],
  ['network: {mode: 1}', 'network.mode must be a string'],
  ['network: {outbound: all}', 'network.outbound must be an object'],
  ['network: {outbound: {insecureAllowAll: "true"}}', 'network.outbound.insecureAllowAll must be true or false'],
  ['network: {outbound: {allowHost: example.com}}', 'network.outbound.allowHost must be a list of text'],
  ['network: {outbound: {allowPort: [0]}}', 'network.outbound.allowPort must be a list of numbers from 1 to 65535'],
])('%s is not a profile', (text, fault) => {
  expect(read(text)).toEqual({ fault: `ConfigMap profiles, key profile: ${fault}` });
});
