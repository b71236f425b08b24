// The files of a page as they are served: modules are JavaScript where the program was built, and
// TypeScript, whose types are taken away on the way out, where it runs from source. Knows nothing about folders.

import { stripTypeScriptTypes } from 'node:module';

/** Of modules. */
export const MODULE_EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const TYPES: Readonly<Record<string, string>> = {
  [MODULE_EXTENSION]: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

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
}

/** `texts`: of every file of the page's folder, by its name. */
export function pageFilesOf(texts: ReadonlyMap<string, string>): PageFiles {
  const files = [...texts].flatMap(([name, text]): PageFile[] => {
    const extension = name.slice(name.lastIndexOf('.') + 1);
    const type = TYPES[extension];
    if (type === undefined) return [];
    return [{ name, type, body: extension === 'ts' ? () => stripTypeScriptTypes(text) : () => text }];
  });
  const template = texts.get('index.html') ?? '';
  return { template: template.replaceAll('%EXTENSION%', MODULE_EXTENSION), files };
}
