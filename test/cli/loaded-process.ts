// Preloaded into a process (`--import`): writes down which modules, those of Node.js included, it has loaded when its first request
// leaves.

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

/** `NativeModule internal/url`, ... */
function builtinModules(): readonly string[] {
  return (process as NodeJS.Process & { readonly moduleLoadList: readonly string[] }).moduleLoadList;
}

function write(): void {
  for (const channel of REQUESTS) unsubscribe(channel, write);
  writeFileSync(process.env.LOADED_FILE ?? '', JSON.stringify([...loaded, ...builtinModules()]));
}

for (const channel of REQUESTS) subscribe(channel, write);
