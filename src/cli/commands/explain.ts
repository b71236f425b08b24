// `skep explain`: describes a kind or one of its fields, from the schema that also validates it.

import { Command } from 'commander';
import { DEFAULT_API_GROUP } from '#hosts/config/api-group.ts';
import type { Field } from '#reconciler/kinds/fields.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';
import type { Deprecation } from '#std/schema/marks.ts';

interface Options {
  readonly apiGroup: string;
  readonly recursive: boolean;
}

const EXAMPLES = `
Examples:
  skep explain
  skep explain mcpserver
  skep explain MCPServer.spec.env
  skep explain mcpregistry.spec --recursive`;

export function explainCommand(): Command {
  return new Command('explain')
    .description('Explain a kind or a field: its type, default, limits, rules, and the fields below it.')
    .argument('[KIND.path]', 'kind by any of its names, and the path of a field; without it, lists the kinds')
    .option('--api-group <group>', 'API group of the custom resources', DEFAULT_API_GROUP)
    .option('--recursive', 'show the fields at every depth, by name and type only', false)
    .addHelpText('after', EXAMPLES)
    .action(async (path: string | undefined, options: Options) => {
      const [{ KINDS }, fields, { VERSIONS }] = await Promise.all([
        import('#reconciler/kinds/index.ts'),
        import('#reconciler/kinds/fields.ts'),
        import('#reconciler/kinds/crd.ts'),
      ]);
      if (path === undefined) {
        process.stdout.write(formatKinds(KINDS));
        return;
      }
      const [name = '', ...steps] = path.split('.');
      const kind = findKind(KINDS, name);
      const field = findField(kind, fields.rootField(kind), steps, fields.lastName);
      const text = [
        ...headOf(kind, options.apiGroup, VERSIONS),
        ...(field.path === '' ? [] : fieldLines(field)),
        ...aboutLines(field),
        ...(field.fields.length === 0 ? [] : ['', 'FIELDS:']),
        ...(options.recursive ? outline(field.fields, fields.lastName, 1) : fieldList(field.fields, fields.lastName)),
        ...(field.path === '' && !options.recursive ? annotationLines(kind) : []),
      ];
      process.stdout.write(`${text.join('\n')}\n`);
    });
}

/** Lists the settings of a kind that are annotations. */
function annotationLines({ annotations }: Kind): readonly string[] {
  if (annotations.length === 0) return [];
  const lines = annotations.flatMap(({ name, description, values, fallback }) => [
    '',
    `  ${name}`,
    ...wrapped(description, 6),
    ...wrapped(`Value: ${values}. Default: ${fallback}.`, 6),
  ]);
  return ['', 'ANNOTATIONS:', ...lines.slice(1)];
}

type NameOf = (field: Field) => string;

function formatKinds(kinds: readonly Kind[]): string {
  const rows = kinds.map(({ kind, plural, shortNames, description }) => {
    return [kind, [...new Set([plural, ...shortNames])].join(','), description] as const;
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)) + 2);
  return rows
    .map(([kind, names, text]) => {
      return `${kind.padEnd(widths[0] ?? 0)}${names.padEnd(widths[1] ?? 0)}${text}\n`;
    })
    .join('');
}

/** Finds a kind by kind, plural, singular or short name, in upper or lower case. */
function findKind(kinds: readonly Kind[], name: string): Kind {
  const lower = name.toLowerCase();
  const found = kinds.find((kind) => kindNames(kind).some((each) => each.toLowerCase() === lower));
  if (found !== undefined) return found;
  const longer = kinds.filter((kind) => kindNames(kind).some((each) => each.toLowerCase().startsWith(lower)));
  const near =
    longer.length === 0
      ? didYouMean(name, kinds.flatMap(kindNames))
      : ` Did you mean ${longer.map(({ kind }) => kind).join(' or ')}?`;
  const known = kinds.map(({ kind }) => kind).join(', ');
  throw new Failure('usage', `There is no kind "${name}".${near} The kinds are ${known}.`);
}

function kindNames({ kind, plural, singular, shortNames }: Kind): readonly string[] {
  return [kind, plural, singular, ...shortNames];
}

function findField(kind: Kind, root: Field, steps: readonly string[], nameOf: NameOf): Field {
  let field = root;
  for (const step of steps) {
    // `env[].name` and `env.name` mean the same, because a list has only the description of its items.
    const name = step.replaceAll(/\[\d*\]|\{\}/g, '');
    const next = field.fields.find((each) => nameOf(each) === name);
    if (next === undefined) throw new Failure('usage', noField(kind, field, name, nameOf));
    field = next;
  }
  return field;
}

function noField(kind: Kind, field: Field, name: string, nameOf: NameOf): string {
  const where = field.path === '' ? kind.kind : `${kind.kind}.${field.path}`;
  const names = field.fields.map(nameOf);
  if (names.length === 0) return `${where} is ${field.type}: no fields are described below it.`;
  return `${where} has no field "${name}".${didYouMean(name, names)} Its fields are ${names.join(', ')}.`;
}

function headOf(kind: Kind, apiGroup: string, versions: readonly string[]): readonly string[] {
  const { plural, singular, shortNames, categories } = kind;
  const all = categories.length === 0 ? '' : `, and with other kinds as ${categories.join(', ')}`;
  return [
    labelled('GROUP', apiGroup),
    labelled('KIND', kind.kind),
    labelled('VERSIONS', versions.join(', ')),
    labelled('NAMES', `${[...new Set([plural, singular, ...shortNames])].join(', ')}${all}`),
  ];
}

function fieldLines({ path, type }: Field): readonly string[] {
  return ['', labelled('FIELD', `${path} <${type}>`)];
}

function aboutLines(field: Field): readonly string[] {
  const { description, required, deprecated, limits, rules } = field;
  return [
    ...(field.path === '' || !required ? [] : [labelled('REQUIRED', 'yes')]),
    ...(field.default === undefined ? [] : [labelled('DEFAULT', JSON.stringify(field.default))]),
    ...(deprecated === undefined ? [] : [labelled('DEPRECATED', deprecationText(deprecated))]),
    ...limitLines(limits, ''),
    '',
    'DESCRIPTION:',
    ...wrapped(description, 4),
    ...(rules.length === 0 ? [] : ['', 'RULES:', ...rules.flatMap((rule) => wrapped(rule, 4, '- '))]),
  ];
}

function deprecationText({ use, since }: Deprecation): string {
  const when = since === undefined ? '' : `in ${since}: `;
  return `${when}use ${use} instead`;
}

function limitLines({ choices, oldWords, sizes, pattern, each }: Field['limits'], prefix: string): readonly string[] {
  return [
    ...(choices.length === 0 ? [] : [labelled('ONE OF', `${prefix}${choices.join(', ')}`)]),
    ...oldWords.map(({ word, use }) => labelled('OLD WORD', `${prefix}${word} means ${use}`)),
    ...(sizes.length === 0 ? [] : [labelled('LIMITS', `${prefix}${sizes.join('; ')}`)]),
    ...(pattern === undefined ? [] : [labelled('PATTERN', `${prefix}${pattern}`)]),
    ...(each === undefined ? [] : limitLines(each, `each ${prefix}`)),
  ];
}

function labelled(label: string, text: string): string {
  return `${`${label}:`.padEnd(12)}${text}`;
}

function fieldList(fields: readonly Field[], nameOf: NameOf): readonly string[] {
  return fields.flatMap((field, index) => [
    ...(index === 0 ? [] : ['']),
    `  ${signature(field, nameOf)}`,
    ...wrapped(field.description, 6),
  ]);
}

function outline(fields: readonly Field[], nameOf: NameOf, depth: number): readonly string[] {
  return fields.flatMap((field) => [
    `${'  '.repeat(depth)}${signature(field, nameOf)}`,
    ...outline(field.fields, nameOf, depth + 1),
  ]);
}

function signature(field: Field, nameOf: NameOf): string {
  const marks = [
    field.default === undefined ? '' : ` = ${JSON.stringify(field.default)}`,
    field.required ? ' -required-' : '',
    field.deprecated === undefined ? '' : ' -deprecated-',
  ];
  return `${nameOf(field)} <${field.type}>${marks.join('')}`;
}

const LINE_WIDTH = 100;

/** Wraps at blanks. The first line begins with the bullet; further lines are indented to the text after the bullet. */
function wrapped(text: string, indent: number, bullet = ''): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= LINE_WIDTH - indent || line === '') line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((each, index) => {
    return `${' '.repeat(indent)}${index === 0 ? bullet : ' '.repeat(bullet.length)}${each}`;
  });
}
