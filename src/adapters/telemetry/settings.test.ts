import { expect, test } from 'vitest';
import { collectorUrl, environmentSpanAttributes, resourceAttributes, signalUrl } from './settings.ts';

test.each([
  ['collector:4318', false, 'https://collector:4318'],
  ['collector:4318', true, 'http://collector:4318'],
  ['http://collector:4318', false, 'http://collector:4318'],
  ['https://collector', true, 'https://collector'],
  ['https://collector/otlp/', false, 'https://collector/otlp'],
  ['collector/otlp', true, 'http://collector/otlp'],
  ['[::1]:4318', true, 'http://[::1]:4318'],
  ['ftp://collector', false, undefined],
  ['user:password@collector', false, undefined],
  ['a b', false, undefined],
])('the collector %s, insecure %s, is at %s', (endpoint, insecure, url) => {
  expect(collectorUrl(endpoint, insecure)).toBe(url);
});

test('the path of a signal is appended', () => {
  expect(signalUrl({ url: 'https://c/otlp', headers: {} }, 'metrics')).toBe('https://c/otlp/v1/metrics');
});

test('attributes of the configuration win over the environment, which wins over ours', () => {
  const facts = { serviceName: 'server', serviceNamespace: 'tools', serviceVersion: '1', custom: { team: 'own' } };
  const environment = { OTEL_RESOURCE_ATTRIBUTES: 'team=theirs, service.version=2,service.name=no,place=a%20b%,x,=y' };
  expect(resourceAttributes(facts, environment)).toEqual({
    'service.name': 'server',
    'service.namespace': 'tools',
    'service.version': '2',
    team: 'own',
    place: 'a%20b%',
  });
});

test('only variables that are set become attributes', () => {
  expect(environmentSpanAttributes(['REGION', 'NONE'], { REGION: 'eu', OTHER: 'x' })).toEqual({
    'environment.REGION': 'eu',
  });
});
