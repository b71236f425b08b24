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
    reason: 'an image that no entry names is not shown, nor are its arguments',
    server: { image: 'internal.example.com/x:1', args: ['--password=secret'] },
    documents: [entry(IMAGE, [])],
    shown: {},
  },
  {
    reason: 'of the arguments those are shown that the entry gives',
    server: { image: IMAGE, args: ['serve', 'all', '--password=secret'] },
    documents: [entry(IMAGE, ['serve', 'all'])],
    shown: { image: IMAGE, args: ['serve', 'all'] },
  },
  {
    reason: 'of several entries of the image the longest that fits counts',
    server: { image: IMAGE, args: ['serve', 'all', '--password=secret'] },
    documents: [entry(IMAGE, []), entry(IMAGE, ['serve']), entry(IMAGE, ['other'])],
    shown: { image: IMAGE, args: ['serve'] },
  },
  {
    reason: 'a server that is started in another way stands for no entry',
    server: { image: IMAGE, args: ['--password=secret'] },
    documents: [entry(IMAGE, ['serve'])],
    shown: {},
  },
  {
    reason: 'a package of another registry is not an image',
    server: { image: IMAGE },
    documents: [entry(IMAGE, [], 'npm')],
    shown: {},
  },
  {
    reason: 'an address that an entry has is shown',
    server: { remoteUrl: URL },
    documents: [remote],
    shown: { remoteUrl: URL },
  },
  {
    reason: 'an address that only contains or begins one of an entry is not shown',
    server: { remoteUrl: `${URL}/inside` },
    documents: [remote],
    shown: {},
  },
  { reason: 'a virtual server is shown without either', server: {}, documents: [remote, entry(IMAGE, [])], shown: {} },
  {
    reason: 'documents may hold anything',
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
