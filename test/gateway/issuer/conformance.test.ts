// Runs the MCP conformance suite against the authorization server: metadata, and a code grant with a login.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { stopAll } from '../proxy/rig.ts';
import { newPerson } from './person.ts';
import { type LoginWorld, newClient, openLoginWorld } from './world.ts';

const SUITE = fileURLToPath(new URL('../../../node_modules/.bin/conformance', import.meta.url));

let world: LoginWorld;
beforeAll(async () => {
  world = await openLoginWorld();
});
afterAll(async () => {
  await stopAll();
  await world.provider.close();
});

it('passes the scenarios of the conformance suite for authorization servers', async () => {
  const port = await freePort();
  const client = await newClient(world, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const options = ['--url', world.issuer, '--client-id', client, '--resource', world.resource, '--port', String(port)];
  const suite = spawn(SUITE, ['authorization', ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let visited = false;
  function read(chunk: Buffer): void {
    output += chunk.toString();
    const [url] = /http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?\S+/.exec(output) ?? [];
    if (visited || url === undefined) return;
    visited = true;
    void newPerson().visit(url);
  }
  suite.stdout.on('data', read);
  suite.stderr.on('data', read);
  const code = await new Promise((resolve) => suite.once('exit', resolve));
  expect([code, output]).toEqual([0, expect.stringContaining('Total: 3 passed, 0 failed')]);
}, 60_000);
