// src/ as the program that is installed: JavaScript in a few files, one for what every command needs and one for each part
// that is loaded later, and next to them the files that are not modules. Every module still finds its files where it was written.

import { chmodSync, cpSync, globSync, mkdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { type Plugin, rolldown } from 'rolldown';
import { AJV_OPTIONS } from '#contracts/schema-check.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');
/** Another world, with other globals: run in browsers. */
export const PAGES = ['registry/page/browser', 'reconciler/control/page/browser'];

/** Loaded by their own file names, in threads. */
const THREADS = ['hosts/reconciler/instance/source-reader', 'hosts/registry/round'];

/** Writes the program into a folder, which is emptied first. The path of its executable. */
export async function bundleTo(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  const threads = Object.fromEntries(THREADS.map((name) => [name, join(SRC, `${name}.ts`)]));
  await compile({ skep: join(SRC, 'skep.ts'), ...threads }, folder);
  for (const page of PAGES) await compilePage(page, join(folder, page));
  for (const path of globSync(`${SRC}/**/*.{sql,html,css,svg}`)) {
    const target = join(folder, relative(SRC, path));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(path, target);
  }
  const executable = join(folder, 'skep.js');
  chmodSync(executable, 0o755);
  return executable;
}

/** One script, which imports nothing: browsers have no modules of Node, and its policy loads none. `page`: below src. */
export function compilePage(page: string, folder: string): Promise<void> {
  return compile(join(SRC, page, 'main.ts'), folder, 'browser');
}

/** Modules with all of ours that they need, as `<folder>/<name>.js`. */
export async function compile(
  input: string | Record<string, string>,
  folder: string,
  platform: 'node' | 'browser' = 'node',
): Promise<void> {
  const bundle = await rolldown({
    input,
    platform,
    // Packages, and Node's own modules, are loaded from where they are installed.
    external: (id, importer) => platform === 'node' && !/^[./#]/.test(id) && !isBundled(id, importer),
    plugins: [ownPlaces, jsonTexts, compiledChecks, withoutRequests, plainHttp, plainProcess],
    treeshake: { moduleSideEffects: (id) => !id.includes('/@kubernetes/client-node/') },
    onLog(level, { message }) {
      throw new Error(`${level}: ${message}`);
    },
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash:16].js',
    // Browsers load all of a page. Names and statements stay as they are written.
    minify: platform === 'browser' && { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await bundle.close();
}

/** The entry of its package loads the API of every kind; only how kubeconfigs are read is used. */
const KUBECONFIG = '@kubernetes/client-node/dist/config.js';

/** Every command loads it; it would be seven files more. */
const COMMANDER = 'commander';

/** Packages of pages: browsers have none installed. */
const PAGE_PACKAGES = ['preact', '@dagrejs/dagre'];

/** Packages that the bundle contains as far as it needs them. */
export const BUNDLED_PACKAGES: readonly string[] = ['@kubernetes/client-node', COMMANDER, ...PAGE_PACKAGES];

const PLAIN_HTTP = 'plain-http';
const PLAIN_PROCESS = 'plain-process';
const LOADED_CHECK = 'loaded-check';

/** Modules that are written here. */
const OWN = [PLAIN_HTTP, PLAIN_PROCESS, LOADED_CHECK];

/** That file, and what it needs in turn. */
function isBundled(id: string, importer: string | undefined): boolean {
  if (id === KUBECONFIG || id === COMMANDER || HTTP.test(id) || PROCESS.test(id) || OWN.includes(id)) return true;
  // The same js-yaml is loaded for other files.
  return isOfPackage(importer) && !isBuiltin(id) && id !== 'js-yaml';
}

function isOfPackage(importer: string | undefined): boolean {
  return importer?.includes('/node_modules/') === true;
}

/** What the official client has for requests, which it never makes: a kubeconfig is read, and that is all. */
const OF_REQUESTS: Readonly<Record<string, string>> = {
  undici: 'export const Agent = undefined, ProxyAgent = undefined, fetch = undefined;',
  socks: 'export const SocksClient = undefined;',
  // A cluster that is reached through a proxy gets an agent, which nobody asks.
  'socks-proxy-agent': 'export class SocksProxyAgent {}',
  hpagent: 'export class HttpProxyAgent {} export class HttpsProxyAgent {}',
};

const withoutRequests: Plugin = {
  name: 'without-requests',
  resolveId: {
    filter: { id: /^(?:undici|socks|socks-proxy-agent|hpagent)$/ },
    handler: (id, importer) => (isOfPackage(importer) ? `without-requests:${id}` : undefined),
  },
  load: {
    filter: { id: /^without-requests:/ },
    handler: (id) => OF_REQUESTS[id.slice('without-requests:'.length)],
  },
};

const HTTP = /^(?:node:)?http$/;

/**
 * Whoever imports `node:http` as a module gets all that it exports read, and so loads a second HTTP client, for
 * `http.WebSocket`: 20 ms and several MiB of every process. Asked for otherwise it is the same module without that.
 */
const plainHttp: Plugin = {
  name: PLAIN_HTTP,
  resolveId: { filter: { id: HTTP }, handler: () => PLAIN_HTTP },
  load: {
    filter: { id: /^plain-http$/ },
    handler: () => {
      const members = Object.entries(Object.getOwnPropertyDescriptors(http));
      const names = members.filter(([, { value }]) => value !== undefined).map(([name]) => name);
      return `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;`;
    },
  },
};

const PROCESS = /^node:process$/;

/** The same of `node:process`: reading all of it loads what makes diagnostic reports. */
const plainProcess: Plugin = {
  name: PLAIN_PROCESS,
  resolveId: { filter: { id: PROCESS }, handler: () => PLAIN_PROCESS },
  load: { filter: { id: /^plain-process$/ }, handler: () => 'export default process;' },
};

/** `import.meta.url` is what it would be if each module had a file of its own. */
const ownPlaces: Plugin = {
  name: 'own-places',
  transform: {
    filter: { id: /\.ts$/, code: /import\.meta\./ },
    handler(code, id) {
      const place = JSON.stringify(`./${relative(SRC, id).replace(/\.ts$/, '.js')}`);
      return { code: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`) };
    },
  },
};

/** JSON is read several times faster than the same as JavaScript. */
const jsonTexts: Plugin = {
  name: 'json-texts',
  transform: {
    filter: { id: /\.json$/ },
    handler: (code) => ({
      code: `export default JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(code)))});`,
      moduleType: 'js',
    }),
  },
};

const CHECK = /schemaCheck<\w+>\((\w+)\)/g;

/** Without `await`, as the compiler would be. */
const LOAD_CHECK = `import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
const load = createRequire(import.meta.url);
export function loadedCheck(url) {
  let check;
  return () => (check ??= load(fileURLToPath(url)).default);
}`;

/** Checks of our own schemas, compiled now: a process has no need for the compiler, and loads those that it asks for. */
const compiledChecks: Plugin = {
  name: 'compiled-checks',
  resolveId: {
    filter: { id: /^loaded-check$|\.check$/ },
    handler: (id) => id,
  },
  load: {
    filter: { id: /^loaded-check$|\.check$/ },
    async handler(id) {
      if (id === LOADED_CHECK) return LOAD_CHECK;
      const [, file = '', name = ''] = /^(.*\.ts)\.(\w+)\.check$/.exec(id) ?? [];
      const ajv = new Ajv({ ...AJV_OPTIONS, code: { ...AJV_OPTIONS.code, source: true, esm: true } });
      const { [name]: schema } = await import(file);
      return { code: standalone.default(ajv, ajv.compile(schema)), moduleType: 'js' };
    },
  },
  transform: {
    filter: { id: /\/contracts\/.*\.ts$/, code: CHECK },
    handler(code, id) {
      const changed = code.replaceAll(CHECK, (_, name) => {
        const file = this.emitFile({ type: 'chunk', id: `${id}.${name}.check`, name: `check-${name}` });
        return `loadedCheck(import.meta.ROLLUP_FILE_URL_${file})`;
      });
      return { code: `import { loadedCheck } from '${LOADED_CHECK}';\n${changed}` };
    },
  },
};
