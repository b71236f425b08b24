// Creates a config repository from manifests/init.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '#hosts/version.ts';
import { Failure } from '#std/failure.ts';

const MANIFESTS = fileURLToPath(new URL('../../manifests', import.meta.url));
const TEMPLATE = join(MANIFESTS, 'init');
const SCHEMA = join(MANIFESTS, 'fleet/schema.json');

/** URL in the template. If the user names a repository, its URL replaces this URL. */
const REPOSITORY = 'https://git.example.com/platform/fleet.git';
/**
 * Files that must not be committed: state, the key of docs/secrets.md, and plan files. The template does not contain
 * this text, because npm does not pack files named .gitignore.
 */
const IGNORED = '.skep/\nage-keys.txt\n*.plan\n*.plan.sig\n';
/** Parts of the template files to replace. */
const INSTANCE = /^name: prod$/m;
const TEMPLATE_VERSION = /(?<=@v|:)0\.0\.0\b/g;

/**
 * Creates the files of the repository, and returns their sorted paths. Throws Failure `usage` if one of the files
 * exists, and then writes no file.
 */
export function scaffold(folder: string, repository: string | undefined): readonly string[] {
  const names = [...templateFiles(), '.gitignore', 'schema.json'].sort();
  const there = names.filter((name) => existsSync(join(folder, name)));
  if (there.length > 0) {
    throw new Failure(
      'usage',
      `${folder} holds ${there.join(', ')} already: nothing was written. Name another folder.`,
    );
  }
  const given = { instance: nameOf(folder), repository: repository ?? REPOSITORY };
  for (const name of names) writeFileOnce(join(folder, name), fileText(name, given));
  return names;
}

function writeFileOnce(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw new Failure('usage', `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function templateFiles(): readonly string[] {
  const entries = readdirSync(TEMPLATE, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(TEMPLATE.length + 1));
}

/**
 * Returns a name for the instance, from the name of the folder. If all instances had the same name, two instances in
 * one cluster could manage the same objects.
 */
function nameOf(folder: string): string {
  const words =
    basename(resolve(folder))
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, NAME_MAX).replace(/-$/, '') || 'fleet';
}

/** Maximum characters of the name in skep.yaml. */
const NAME_MAX = 40;

/** Setting without which a repository on this machine is not read. */
const ALLOW_FILES = 'outbound: {allowFiles: true}\n';

interface Given {
  readonly instance: string;
  readonly repository: string;
}

function fileText(name: string, { instance, repository }: Given): string {
  if (name === '.gitignore') return IGNORED;
  if (name === 'schema.json') return readFileSync(SCHEMA, 'utf8');
  const text = readFileSync(join(TEMPLATE, name), 'utf8');
  const outbound = name === 'skep.yaml' && repository.startsWith('file:') ? ALLOW_FILES : '';
  return `${text}${outbound}`
    .replaceAll(REPOSITORY, () => quoteYaml(repository))
    .replaceAll(TEMPLATE_VERSION, VERSION)
    .replace(INSTANCE, `name: ${instance}`);
}

/** Returns the text as a YAML scalar. Quotes are added only if the text needs them. */
function quoteYaml(text: string): string {
  return /^[A-Za-z0-9@:/._~-]+$/.test(text) && !text.includes(': ') ? text : JSON.stringify(text);
}
