import { describe, expect, test } from 'vitest';
import { type Candidate, compareVersions, latestOf } from './versions.ts';

describe('versions are ordered by precedence', () => {
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
    { low: 'V2.0.0', high: '0.0.1', reason: 'nor is a capital before it' },
    { low: 'v2.0.0', high: 'v10.0.0', reason: 'a v before it does not count' },
    { low: '0.9.0', high: 'v1.0.0', reason: 'whether or not all have it' },
    { low: 'v1', high: '0.0.1', reason: 'one number with it is none' },
    { low: '01.0.0', high: '0.0.1', reason: 'nor is a leading zero' },
    { low: '0.9.0', high: '1.0.0+b1', reason: 'a build part does not count' },
    { low: '1.0.0-rc.1+b.7', high: '1.0.0', reason: 'nor does that of a prerelease' },
    { low: '9.0.0+', high: '0.0.1', reason: 'an empty build part is none' },
    { low: '9.0.0+a+b', high: '0.0.1', reason: 'nor are two' },
    { low: '9.0.0-01', high: '0.0.1', reason: 'nor is a leading zero in a numeric identifier' },
    { low: '9.0.0-', high: '0.0.1', reason: 'nor is an empty prerelease' },
    { low: '2024-01', high: '2024-02', reason: 'other versions are ordered as text' },
    { low: '1.0.9007199254740992', high: '1.0.9007199254740993', reason: 'numbers are exact at any length' },
  ])('$low is below $high: $reason', ({ low, high }) => {
    expect(compareVersions(low, high)).toBeLessThan(0);
    expect(compareVersions(high, low)).toBeGreaterThan(0);
  });
});

describe('one version is the latest', () => {
  const at = (version: string, publishedAt = '2026-01-01T00:00:00.000Z', isLatest?: boolean): Candidate => ({
    version,
    publishedAt,
    isLatest,
  });

  test.each([
    { from: [], latest: undefined, reason: 'of none there is none' },
    { from: [at('1.2.0'), at('1.10.0'), at('1.9.0')], latest: '1.10.0', reason: 'numbers count, not texts' },
    { from: [at('2.0.0-rc.1'), at('1.0.0')], latest: '2.0.0-rc.1', reason: 'precedence counts, also of a prerelease' },
    { from: [at('1.0.0-rc.1'), at('1.0.0')], latest: '1.0.0', reason: 'a release is above its prereleases' },
    {
      from: [at('2.0.0'), at('1.0.0', undefined, true)],
      latest: '1.0.0',
      reason: 'the choice of the publisher comes first',
    },
    {
      from: [at('1.0.0', undefined, true), at('1.1.0', undefined, true), at('3.0.0')],
      latest: '1.1.0',
      reason: 'of several that the publisher names the rules choose',
    },
    {
      from: [at('1.0.0', undefined, false), at('0.9.0', undefined, false)],
      latest: '1.0.0',
      reason: 'a no names nobody',
    },
    {
      from: [at('zzz', '2026-09-01T00:00:00.000Z'), at('0.0.1')],
      latest: '0.0.1',
      reason: 'semantic ones win over others',
    },
    {
      from: [at('b', '2026-01-01T00:00:00.000Z'), at('a', '2026-02-01T00:00:00.000Z')],
      latest: 'a',
      reason: 'among others the one published last wins',
    },
    { from: [at('0.9.0'), at('v1.0.0')], latest: 'v1.0.0', reason: 'a v before the numbers does not count' },
    { from: [at('v1.0.0'), at('v2.0.0'), at('v10.0.0')], latest: 'v10.0.0', reason: 'with it numbers are numbers too' },
    { from: [at('0.9.0'), at('1.0.0+b1')], latest: '1.0.0+b1', reason: 'nor does a build part' },
    {
      from: [at('1.0.0', '2026-02-01T00:00:00.000Z'), at('v1.0.0'), at('1.0.0+b1')],
      latest: '1.0.0',
      reason: 'among equals the one published last wins',
    },
    { from: [at('a'), at('b')], latest: 'b', reason: 'of those published together the greater text wins' },
  ])('$latest: $reason', ({ from, latest }) => {
    expect(latestOf(from)?.version).toBe(latest);
    expect(latestOf(from.toReversed())?.version).toBe(latest);
  });
});
