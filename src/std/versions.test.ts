import { describe, expect, test } from 'vitest';
import { type Candidate, compareVersions, latestOf } from './versions.ts';

describe('orders versions by precedence', () => {
  test('the example of semver.org item 11 is in order', () => {
    const ascending = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.2.0',
      '1.10.0',
      '2.0.0',
    ];
    expect(ascending.toReversed().sort(compareVersions)).toEqual(ascending);
  });

  test.each([
    { low: '1.0', high: '0.0.1', reason: 'two numbers are not a semantic version' },
    { low: 'V2.0.0', high: '0.0.1', reason: 'a prefix V makes the version no semantic version' },
    { low: 'v2.0.0', high: 'v10.0.0', reason: 'a prefix v does not count' },
    { low: '0.9.0', high: 'v1.0.0', reason: 'a prefix v of only one version does not count' },
    { low: 'v1', high: '0.0.1', reason: 'v and one number are not a semantic version' },
    { low: '01.0.0', high: '0.0.1', reason: 'a leading zero makes the version no semantic version' },
    { low: '0.9.0', high: '1.0.0+b1', reason: 'build metadata does not count' },
    { low: '1.0.0-rc.1+b.7', high: '1.0.0', reason: 'build metadata of a prerelease does not count' },
    { low: '9.0.0+', high: '0.0.1', reason: 'empty build metadata is invalid' },
    { low: '9.0.0+a+b', high: '0.0.1', reason: 'repeated build metadata is invalid' },
    { low: '9.0.0-01', high: '0.0.1', reason: 'a leading zero in a numeric identifier is invalid' },
    { low: '9.0.0-', high: '0.0.1', reason: 'an empty prerelease is invalid' },
    { low: '2024-01', high: '2024-02', reason: 'other versions are ordered as text' },
    { low: '1.0.9007199254740992', high: '1.0.9007199254740993', reason: 'numbers are exact at any length' },
  ])('$low is below $high: $reason', ({ low, high }) => {
    expect(compareVersions(low, high)).toBeLessThan(0);
    expect(compareVersions(high, low)).toBeGreaterThan(0);
  });
});

describe('finds the latest version', () => {
  const at = (version: string, publishedAt = '2026-01-01T00:00:00.000Z', isLatest?: boolean): Candidate => ({
    version,
    publishedAt,
    isLatest,
  });

  test.each([
    { from: [], latest: undefined, reason: 'no candidates' },
    { from: [at('1.2.0'), at('1.10.0'), at('1.9.0')], latest: '1.10.0', reason: 'numbers are compared as numbers' },
    {
      from: [at('2.0.0-rc.1'), at('1.0.0')],
      latest: '2.0.0-rc.1',
      reason: 'a prerelease of a higher version is above a release',
    },
    { from: [at('1.0.0-rc.1'), at('1.0.0')], latest: '1.0.0', reason: 'a release is above its prereleases' },
    {
      from: [at('2.0.0'), at('1.0.0', undefined, true)],
      latest: '1.0.0',
      reason: 'the choice of the publisher has precedence',
    },
    {
      from: [at('1.0.0', undefined, true), at('1.1.0', undefined, true), at('3.0.0')],
      latest: '1.1.0',
      reason: 'if the publisher names several versions, the highest of them counts',
    },
    {
      from: [at('1.0.0', undefined, false), at('0.9.0', undefined, false)],
      latest: '1.0.0',
      reason: 'isLatest false has no effect',
    },
    {
      from: [at('zzz', '2026-09-01T00:00:00.000Z'), at('0.0.1')],
      latest: '0.0.1',
      reason: 'a semantic version is above other versions',
    },
    {
      from: [at('b', '2026-01-01T00:00:00.000Z'), at('a', '2026-02-01T00:00:00.000Z')],
      latest: 'a',
      reason: 'of other versions the last published counts',
    },
    { from: [at('0.9.0'), at('v1.0.0')], latest: 'v1.0.0', reason: 'a prefix v does not change precedence' },
    {
      from: [at('v1.0.0'), at('v2.0.0'), at('v10.0.0')],
      latest: 'v10.0.0',
      reason: 'numbers after a prefix v are compared as numbers',
    },
    { from: [at('0.9.0'), at('1.0.0+b1')], latest: '1.0.0+b1', reason: 'build metadata does not change precedence' },
    {
      from: [at('1.0.0', '2026-02-01T00:00:00.000Z'), at('v1.0.0'), at('1.0.0+b1')],
      latest: '1.0.0',
      reason: 'of equal versions the last published counts',
    },
    { from: [at('a'), at('b')], latest: 'b', reason: 'of versions published at the same time the greater text counts' },
  ])('$latest: $reason', ({ from, latest }) => {
    expect(latestOf(from)?.version).toBe(latest);
    expect(latestOf(from.toReversed())?.version).toBe(latest);
  });
});
