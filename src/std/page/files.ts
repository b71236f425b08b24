// Reads the files of a page in the form for browsers. In a checkout, modules are TypeScript, and this file removes
// their types. In the built program, modules are JavaScript. Each page also gets the shared modules.

import { createRequire, stripTypeScriptTypes } from 'node:module';
import { pathToFileURL } from 'node:url';
import { sha256 } from '../hash.ts';

/** File extension of modules. */
export const MODULE_EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const SHARED = new URL('./shared/', import.meta.url);

/** Imports of shared modules. Modules in the built program have no imports. */
const IMPORTS_SHARED = /(?<=from ')#std\/page\/shared\//g;

/** Packages that modules import. In the built program, the script of the page contains them. */
const PACKAGES = {
  preact: { served: 'preact.mjs', file: 'preact.mjs' },
  'preact/hooks': { served: 'hooks.mjs', file: 'hooks.mjs' },
  '@dagrejs/dagre': { served: 'dagre.mjs', file: 'dagre.esm.js' },
} as const;

type PackageName = keyof typeof PACKAGES;

const TYPES: Readonly<Record<string, string>> = {
  [MODULE_EXTENSION]: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

const TEMPLATE = 'index.html';

/** The used functions of `node:fs/promises`. */
export interface Folders {
  readdir(folder: URL, options: { readonly recursive: true }): Promise<readonly string[]>;
  readFile(file: URL, encoding: 'utf8'): Promise<string>;
}

export interface PageFile {
  /** Path within the folder, such as `running/view.js`. */
  readonly name: string;
  readonly type: string;
  readonly body: () => string;
}

export interface PageFiles {
  /** Text of `index.html`, with the file extension of modules filled in. */
  readonly template: string;
  readonly files: readonly PageFile[];
  /** Digest of all files together. */
  readonly digest: string;
}

/** Reads the page in `folder`. `packages` are the packages that its modules import. */
export async function readPageFiles(
  folders: Folders,
  folder: URL,
  packages: readonly PackageName[] = [],
): Promise<PageFiles> {
  const texts = new Map([
    ...(await readTexts(folders, SHARED)),
    ...(MODULE_EXTENSION === 'ts' ? await readPackages(folders, packages) : []),
    ...(await readTexts(folders, folder)),
  ]);
  const files = [...texts].flatMap(([name, text]): PageFile[] => {
    const type = TYPES[extensionOf(name)];
    return type === undefined ? [] : [{ name, type, body: () => servedText(name, text) }];
  });
  const template = texts.get(TEMPLATE)?.replaceAll('%EXTENSION%', MODULE_EXTENSION) ?? '';
  return { template, files, digest: sha256(JSON.stringify([...texts])) };
}

async function readTexts({ readdir, readFile }: Folders, folder: URL): Promise<(readonly [string, string])[]> {
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => name === TEMPLATE || extensionOf(name) in TYPES,
  );
  return Promise.all(
    names.toSorted().map(async (name) => [name, await readFile(new URL(name, folder), 'utf8')] as const),
  );
}

function readPackages({ readFile }: Folders, packages: readonly PackageName[]) {
  const load = createRequire(import.meta.url);
  return Promise.all(
    packages.map(async (name) => {
      const { served, file } = PACKAGES[name];
      const text = await readFile(new URL(`./${file}`, pathToFileURL(load.resolve(name))), 'utf8');
      return [served, text.replace(SOURCE_MAP, '')] as const;
    }),
  );
}

/** Removed, because browsers would request the source map, which is not served. */
const SOURCE_MAP = /\n?\/\/# sourceMappingURL=\S+\s*$/;

const IMPORTS_PACKAGE = /(?<=from\s*)(['"])((?:preact(?:\/hooks)?)|@dagrejs\/dagre)\1/g;

function servedText(name: string, text: string): string {
  if (!name.endsWith('.ts') && !name.endsWith('.mjs')) return text;
  const up = '../'.repeat(name.split('/').length - 1) || './';
  const script = name.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  return script
    .replaceAll(IMPORTS_SHARED, up)
    .replaceAll(IMPORTS_PACKAGE, (_whole, _quote, of: PackageName) => `'${up}${PACKAGES[of].served}'`);
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
