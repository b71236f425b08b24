// Preloaded into a process (`--import`): writes down which modules it has loaded when its first request leaves.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded: string[] = [];
/** Published by undici and by node:http when a request is made. */
const REQUESTS = ['undici:request:create', 'http.client.request.start'];

registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});

function write(): void {
  for (const channel of REQUESTS) unsubscribe(channel, write);
  writeFileSync(process.env.LOADED_FILE ?? '', JSON.stringify(loaded));
}

for (const channel of REQUESTS) subscribe(channel, write);
