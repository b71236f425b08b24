// The files of a page as they are served: modules are JavaScript where the program was built, and TypeScript, whose types
// are taken away on the way out, where it runs from source. What pages share is served beside the files of each, as if it
// were one of them.

import { stripTypeScriptTypes } from 'node:module';
import { sha256 } from '../hash.ts';

/** Of modules. */
export const MODULE_EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const SHARED = new URL('./shared/', import.meta.url);

/** As modules name it; where the program was built they have no imports. */
const IMPORTS_SHARED = /(?<=from ')#std\/page\/shared\//g;

const TYPES: Readonly<Record<string, string>> = {
  [MODULE_EXTENSION]: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

const TEMPLATE = 'index.html';

/** `node:fs/promises`, given by who listens: nothing here touches the world. */
export interface Folders {
  readdir(folder: URL, options: { readonly recursive: true }): Promise<readonly string[]>;
  readFile(file: URL, encoding: 'utf8'): Promise<string>;
}

export interface PageFile {
  /** Below the folder, such as `running/view.js`. */
  readonly name: string;
  readonly type: string;
  readonly body: () => string;
}

export interface PageFiles {
  /** `index.html`, in which the extension of modules is filled in. */
  readonly template: string;
  readonly files: readonly PageFile[];
  /** Of all that is in them. */
  readonly digest: string;
}

/** `folder`: of the page. */
export async function readPageFiles(folders: Folders, folder: URL): Promise<PageFiles> {
  const texts = new Map([...(await readTexts(folders, SHARED)), ...(await readTexts(folders, folder))]);
  const files = [...texts].flatMap(([name, text]): PageFile[] => {
    const type = TYPES[extensionOf(name)];
    return type === undefined
      ? []
      : [{ name, type, body: () => (name.endsWith('.ts') ? servedModule(name, text) : text) }];
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

function servedModule(name: string, text: string): string {
  const up = '../'.repeat(name.split('/').length - 1);
  return stripTypeScriptTypes(text).replaceAll(IMPORTS_SHARED, up === '' ? './' : up);
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
