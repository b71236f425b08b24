import { expect, test } from 'vitest';
import { forgeOf } from './forge.ts';

test.each([
  ['https://github.com/team/fleet.git', 'https://github.com'],
  ['git@github.com:team/fleet.git', 'https://github.com'],
  ['ssh://git@ssh.github.com:443/team/fleet.git', 'https://github.com'],
  ['ssh://git@altssh.gitlab.com:443/team/fleet.git', 'https://gitlab.com'],
  ['ssh://git@git.example.com:2222/team/fleet.git', 'https://git.example.com'],
])('the statuses of %s are at %s', (repository, origin) => {
  expect(forgeOf(repository, false)).toEqual({ origin, path: 'team/fleet' });
});

test('a git daemon has no commit statuses', () => {
  expect(forgeOf('git://git.example.com/fleet.git', false)).toBeUndefined();
});
