// Tests the settings of the login: each mistake is reported with its place.

import { expect, test } from 'vitest';
import { readConfig } from './read-config.ts';

const RIGHT = `name: prod
sources: [{name: fleet, repository: "https://git.example.com/fleet.git"}]
http:
  login:
    url: https://skep.example.com
    issuer: https://login.example.com
    clientId: skep
    roles:
      - {role: operator, claim: groups, values: [platform], namespaces: [team-*]}
`;

function faultsOf(text: string): string {
  try {
    readConfig({ text, file: 'skep.yaml', environment: {} });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('a login is complete with an issuer, a client and a rule', () => {
  const { http } = readConfig({ text: RIGHT, file: 'skep.yaml', environment: {} });
  expect(http?.login).toMatchObject({ scopes: ['openid', 'profile', 'email'], sessionHours: 8 });
  expect(faultsOf(RIGHT.replaceAll('https://skep.example.com', 'http://localhost:8081'))).toBe('');
});

test.each([
  {
    from: 'https://skep.example.com',
    to: 'http://skep.example.com',
    at: '5:10',
    says: 'http.login.url: url must be https',
  },
  { from: 'https://skep.example.com', to: 'https://skep.example.com/', at: '5:10', says: 'http.login.url' },
  { from: 'https://skep.example.com', to: 'https://skep.example.com/?a=b', at: '5:10', says: 'http.login.url' },
  { from: 'https://login.example.com', to: 'http://login.example.com', at: '6:13', says: 'issuer must be https' },
  { from: 'clientId: skep', to: 'scopes: [email]\n    clientId: skep', at: '7:13', says: 'scopes must include openid' },
  { from: 'role: operator', to: 'role: admin', at: '9:16', says: 'http.login.roles[0].role' },
  { from: 'role: operator', to: 'role: viewer', at: '9:71', says: 'only operators are limited to namespaces' },
  { from: 'team-*', to: '"team-["', at: '9:74', says: 'team-[ is not a glob' },
  { from: 'values: [platform]', to: 'values: []', at: '9:49', says: 'http.login.roles[0].values' },
  { from: 'claim: groups, ', to: '', at: '9:', says: 'claim' },
  { from: 'clientId: skep', to: 'clientID: skep', at: '7:5', says: 'Did you mean "clientId"?' },
])('$to is reported at its place', ({ from, to, at, says }) => {
  const text = faultsOf(RIGHT.replace(from, to));
  expect(text).toContain(`skep.yaml:${at}`);
  expect(text).toContain(says);
});
