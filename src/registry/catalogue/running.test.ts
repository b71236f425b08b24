import { expect, test } from 'vitest';
import type { RunningServer } from '#contracts/running-servers.ts';
import type { JsonObject } from '#std/json.ts';
import { shownServers } from './running.ts';

const IMAGE = 'images.example.com/clock:1';
const URL = 'https://faraway.example.com/mcp';
const BARE = {
  namespace: 'team',
  name: 'clock',
  url: 'http://mcp-clock-proxy.team.svc:8080/mcp',
  ready: true,
} as const;
const COMMON = { ...BARE, transport: 'streamable-http', auth: 'none' } as const;

function entry(image: string, args: readonly string[], registryType = 'oci'): JsonObject {
  return {
    packages: [{ registryType, identifier: image }],
    _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { 'io.acme': { [image]: { args: [...args] } } } },
  };
}

const remote: JsonObject = { remotes: [{ type: 'streamable-http', url: URL }] };

test.each<{ reason: string; server: Partial<RunningServer>; documents: JsonObject[]; shown: Partial<RunningServer> }>([
  {
    reason: 'hides an image that no entry names, and its arguments',
    server: { image: 'internal.example.com/x:1', args: ['--password=secret'] },
    documents: [entry(IMAGE, [])],
    shown: {},
  },
  {
    reason: 'shows only the arguments that the entry lists',
    server: { image: IMAGE, args: ['serve', 'all', '--password=secret'] },
    documents: [entry(IMAGE, ['serve', 'all'])],
    shown: { image: IMAGE, args: ['serve', 'all'] },
  },
  {
    reason: 'uses the entry of the image with the most matching arguments',
    server: { image: IMAGE, args: ['serve', 'all', '--password=secret'] },
    documents: [entry(IMAGE, []), entry(IMAGE, ['serve']), entry(IMAGE, ['other'])],
    shown: { image: IMAGE, args: ['serve'] },
  },
  {
    reason: 'hides the image of a server that starts with other arguments than the entry',
    server: { image: IMAGE, args: ['--password=secret'] },
    documents: [entry(IMAGE, ['serve'])],
    shown: {},
  },
  {
    reason: 'does not treat an npm package as an image',
    server: { image: IMAGE },
    documents: [entry(IMAGE, [], 'npm')],
    shown: {},
  },
  {
    reason: 'shows a URL that an entry names',
    server: { remoteUrl: URL },
    documents: [remote],
    shown: { remoteUrl: URL },
  },
  {
    reason: 'hides a URL that only begins with the URL of an entry',
    server: { remoteUrl: `${URL}/inside` },
    documents: [remote],
    shown: {},
  },
  {
    reason: 'shows a virtual server without image and URL',
    server: {},
    documents: [remote, entry(IMAGE, [])],
    shown: {},
  },
  {
    reason: 'accepts malformed documents',
    server: { image: IMAGE, args: ['a'] },
    documents: [
      { packages: 1, remotes: [null, { url: 2 }], _meta: [] },
      { ...entry(IMAGE, []), _meta: { x: 'y' } },
    ],
    shown: { image: IMAGE, args: [] },
  },
])('$reason', ({ server, documents, shown }) => {
  expect(shownServers([{ ...COMMON, ...server }], documents)).toEqual([{ ...COMMON, ...shown }]);
});
