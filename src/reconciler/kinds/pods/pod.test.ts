import { describe, expect, it } from 'vitest';
import { envOf, volumeName, withSurroundings } from './pod.ts';

describe('the name of a volume', () => {
  const rows = [
    { reason: 'fits as it is', name: 'corporate-ca', is: 'ca-corporate-ca' },
    { reason: 'has a dot', name: 'corporate.ca', is: 'ca-corporate-ca-fec740a9' },
    { reason: 'begins and ends with forbidden characters', name: '-x-', is: 'ca-x-c6cf95e5' },
  ];
  it.each(rows)('for a name that $reason', ({ name, is }) => {
    expect(volumeName('ca', name)).toBe(is);
  });

  it('is never too long, and differs for different names', () => {
    const long = 'x'.repeat(253);
    expect(volumeName('registry-data-source', long)).toHaveLength(63);
    expect(volumeName('registry-data-source', `${long.slice(1)}y`)).not.toBe(volumeName('registry-data-source', long));
  });

  it('differs for names that differ only in removed characters', () => {
    expect(volumeName('ca', 'a.b')).not.toBe(volumeName('ca', 'a_b'));
  });
});

describe('the environment of a container', () => {
  it('contains each variable once: the last value, at the position of the first', () => {
    const env = envOf([
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
      { name: 'A', secret: { name: 's', key: 'k' } },
    ]);
    expect(env).toEqual([
      { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      { name: 'B', value: '2' },
    ]);
  });

  it('of a proxy contains common variables, unless they are already set', () => {
    const names = withSurroundings([{ name: 'HOME', value: '/x' }]).map(({ name }) => name);
    expect(names).toEqual(['HOME', 'XDG_CONFIG_HOME', 'TOOLHIVE_RUNTIME', 'UNSTRUCTURED_LOGS', 'NODE_OPTIONS']);
  });

  it('of a proxy names the source of secrets if it contains secrets', () => {
    const names = withSurroundings([{ name: 'TOOLHIVE_SECRET_X', value: 'x' }]).map(({ name }) => name);
    expect(names).toContain('TOOLHIVE_SECRETS_PROVIDER');
  });
});
