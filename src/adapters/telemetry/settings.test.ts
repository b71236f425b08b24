import { expect, test } from 'vitest';
import { environmentSpanAttributes, resourceAttributes, signalUrl } from './settings.ts';

test('the path of a signal is appended', () => {
  expect(signalUrl({ url: 'https://c/otlp' }, 'metrics')).toBe('https://c/otlp/v1/metrics');
});

test('the configuration takes precedence over the environment, which sets every attribute except the service name', () => {
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
