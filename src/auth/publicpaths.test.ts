import { expect, test } from 'vitest';
import { isPublic, normaliseTarget } from './publicpaths.ts';

test.each([
  { target: '/a/b?x=../y', expected: '/a/b?x=../y', reason: 'the query is left alone' },
  { target: '/a/../b', expected: '/b', reason: 'a step up' },
  { target: '/a/%2e%2E/b', expected: '/b', reason: 'an encoded step up' },
  { target: '/a/.%2e/b', expected: '/b', reason: 'a half encoded step up' },
  { target: '/a/./b/%2e', expected: '/a/b/', reason: 'dots that stay' },
  { target: '/a/..', expected: '/', reason: 'a step up at the end' },
  { target: '/../../a', expected: '/a', reason: 'nothing is above the root' },
  { target: '/a%2f..%2fb', expected: '/a%2f..%2fb', reason: 'an encoded slash parts no segments' },
  { target: '/a/%252e%252e/b', expected: '/a/%252e%252e/b', reason: 'decoded once, not twice' },
  { target: '/a/...', expected: '/a/...', reason: 'three dots are a name' },
  { target: '//health', expected: '//health', reason: 'empty segments are segments' },
  { target: '/a#/../b', expected: '/a', reason: 'a fragment is not a part of the path' },
  { target: 'http://host:8080/a?b', expected: '/a?b', reason: 'absolute form (RFC 9112 section 3.2.2)' },
  { target: 'http://host', expected: '/', reason: 'absolute form without a path' },
  { target: '*', expected: '/', reason: 'asterisk form' },
])('normalises $target to $expected: $reason', ({ target, expected }) => {
  expect(normaliseTarget(target)).toBe(expected);
});

/** Checks the normalised target, as the service does. */
function check(target: string, publicPaths: readonly string[], expected: boolean): void {
  expect(isPublic(normaliseTarget(target), publicPaths)).toBe(expected);
}

test.each([
  { target: '/health', expected: true, reason: 'always public' },
  { target: '/health/', expected: true, reason: 'a slash more' },
  { target: '/health/live?x', expected: true, reason: 'everything below' },
  { target: '/healthcheck', expected: false, reason: 'a longer name is another path' },
  { target: '/Health', expected: false, reason: 'paths are case-sensitive' },
  { target: '/%68ealth', expected: true, reason: 'decoded before it is compared' },
  { target: '/readiness', expected: true, reason: 'always public' },
  { target: '/version', expected: true, reason: 'always public' },
  { target: '/.well-known/anything', expected: true, reason: 'always public' },
  { target: '/.well-knownx', expected: false, reason: 'a longer name is another path' },
  { target: '/openapi.json', expected: false, reason: 'it is none of the public paths' },
  { target: '/', expected: false, reason: 'nothing above is public' },
  { target: '/tools/v0.1/servers', expected: false, reason: 'data' },
  { target: '/health/../tools/v0.1/servers', expected: false, reason: 'a step up leaves the public path' },
  { target: '/health/%2e%2e/tools/v0.1/servers', expected: false, reason: 'an encoded step up' },
  { target: '/tools/../health', expected: true, reason: 'a step up into a public path' },
  { target: '/health/%252e%252e/tools', expected: false, reason: 'double encoding' },
  { target: '/health%2f..%2ftools', expected: false, reason: 'encoded slashes' },
  { target: '/health/a%2fb', expected: false, reason: 'an encoded slash below' },
  { target: '/health/%5c..%5ctools', expected: false, reason: 'encoded backslashes' },
  { target: '/health/%zz', expected: false, reason: 'bad encoding' },
  { target: '//health', expected: false, reason: 'an empty segment first' },
  { target: '/docs/a', publicPaths: ['/docs/'], expected: true, reason: 'configured, with a slash at the end' },
  { target: '/docsx', publicPaths: ['/docs'], expected: false, reason: 'a longer name than configured' },
  { target: '/a%20b', publicPaths: ['/a b'], expected: true, reason: 'configured paths are unencoded' },
  { target: '/tools/v0.1/servers', publicPaths: ['/'], expected: true, reason: 'the root stands for everything' },
])('$target is public: $expected ($reason)', ({ target, publicPaths = [], expected }) => {
  check(target, publicPaths, expected);
});
