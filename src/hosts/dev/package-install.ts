// Installs an npm or PyPI package in its own folder without running its scripts, and finds its program. The
// installation has the user's environment, which may contain mirrors, proxies and logins. The installed program does
// not have this environment.

import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { RunToEnd } from '#kubernetes/devcluster/node/ports.ts';
import type { ExactPackage, PackageType } from '#registry/catalogue/packages.ts';
import { isObject } from '#std/json.ts';

export interface Installer {
  /** Returns the reason why packages of this type cannot be installed; undefined if they can be installed. */
  fault(type: PackageType): string | undefined;
  /** Returns the path of the installed program. Throws an Error with the reason if the package cannot be installed. */
  install(pkg: ExactPackage, run: RunToEnd): Promise<string>;
}

export interface InstallerOptions {
  /** Folder with a subfolder for each package. */
  readonly folder: string;
  /** Environment of the user who started this program. */
  readonly environment: Readonly<Record<string, string>>;
}

const TOOLS: Readonly<Record<PackageType, string>> = { npm: 'npm', pypi: 'uv' };

export function openInstaller({ folder, environment }: InstallerOptions): Installer {
  const tools = new Map(Object.values(TOOLS).map((name) => [name, findProgram(name, environment.PATH ?? '')]));
  const installing = new Map<string, Promise<void>>();

  /** Runs the installations into a folder one after the other, so that the second installation finds the package. */
  function installOnce(dir: string, install: () => Promise<void>): Promise<void> {
    const before = installing.get(dir) ?? Promise.resolve();
    const now = before.catch(() => undefined).then(install);
    installing.set(dir, now);
    return now;
  }

  return {
    fault(type) {
      if (tools.get(TOOLS[type]) !== undefined) return undefined;
      return `it is a package of ${type}, and ${TOOLS[type]} is not in the PATH`;
    },
    async install(pkg, run) {
      const dir = join(folder, pkg.type, `${pkg.name.replace('/', '+')}@${pkg.version}`);
      const program = tools.get(TOOLS[pkg.type]) ?? TOOLS[pkg.type];
      await installOnce(dir, async () => {
        if (existsSync(join(dir, doneMark(pkg)))) return;
        await mkdir(dir, { recursive: true, mode: 0o700 });
        const { args, variables } = commandFor(pkg, dir);
        await run({ program, args, env: { ...environment, ...variables }, directory: dir });
      });
      return pkg.type === 'npm' ? npmProgram(pkg, dir) : pypiProgram(pkg, dir);
    },
  };
}

function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Returns the path of a file that the installation writes last. */
function doneMark({ type, name }: ExactPackage): string {
  return type === 'npm' ? join('node_modules', '.package-lock.json') : join('tools', name, 'uv-receipt.toml');
}

interface InstallCommand {
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

function commandFor({ type, name, version }: ExactPackage, dir: string): InstallCommand {
  if (type === 'npm') {
    const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--no-save', '--omit=dev'];
    // npm would run scripts of dependencies from Git.
    const args = [
      'install',
      '--ignore-scripts',
      '--allow-git=none',
      '--no-global',
      ...quiet,
      '--prefix',
      dir,
      '--',
      `${name}@${version}`,
    ];
    return { args, variables: {} };
  }
  // Building a source distribution would run the package's code.
  const args = ['tool', 'install', '--no-build', '--no-python-downloads', '--no-progress', '--', `${name}==${version}`];
  return { args, variables: { UV_TOOL_DIR: join(dir, 'tools'), UV_TOOL_BIN_DIR: join(dir, 'bin') } };
}

/** Returns the program that npx would choose: the only program, or the program with the package's name. */
async function npmProgram({ name, version }: ExactPackage, dir: string): Promise<string> {
  const text = await readFile(join(dir, 'node_modules', name, 'package.json'), 'utf8');
  const { bin }: { readonly bin?: unknown } = JSON.parse(text);
  const own = name.slice(name.lastIndexOf('/') + 1);
  const found = typeof bin === 'string' ? own : chooseProgram(isObject(bin) ? Object.keys(bin) : [], own);
  if (found === undefined) throw new Error(`${name}@${version} has no program with its own name`);
  return join(dir, 'node_modules', '.bin', found);
}

async function pypiProgram({ name, version }: ExactPackage, dir: string): Promise<string> {
  const found = chooseProgram(await readdir(join(dir, 'bin')), name);
  if (found === undefined) throw new Error(`${name}==${version} has no program with its own name`);
  return join(dir, 'bin', found);
}

function chooseProgram(names: readonly string[], own: string): string | undefined {
  return names.length === 1 ? names[0] : names.find((name) => name === own);
}
