// `skep explain`: describes a kind or one of its fields, from the schema that also validates it.

import { Command } from 'commander';
import { DEFAULT_API_GROUP } from '#hosts/config/api-group.ts';
import type { SpecField } from '#reconciler/kinds/fields.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
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
      const [{ KINDS }, { findField }, fields, { VERSIONS }] = await Promise.all([
        import('#reconciler/kinds/index.ts'),
        import('../explain/find-field.ts'),
        import('#reconciler/kinds/fields.ts'),
        import('#reconciler/kinds/crd.ts'),
      ]);
      if (path === undefined) {
        process.stdout.write(formatKinds(KINDS));
        return;
      }
      const { kind, field } = findField(path);
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

type NameOf = (field: SpecField) => string;

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

function fieldLines({ path, type }: SpecField): readonly string[] {
  return ['', labelled('FIELD', `${path} <${type}>`)];
}

function aboutLines(field: SpecField): readonly string[] {
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

function limitLines(
  { choices, oldWords, sizes, pattern, each }: SpecField['limits'],
  prefix: string,
): readonly string[] {
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

function fieldList(fields: readonly SpecField[], nameOf: NameOf): readonly string[] {
  return fields.flatMap((field, index) => [
    ...(index === 0 ? [] : ['']),
    `  ${signature(field, nameOf)}`,
    ...wrapped(field.description, 6),
  ]);
}

function outline(fields: readonly SpecField[], nameOf: NameOf, depth: number): readonly string[] {
  return fields.flatMap((field) => [
    `${'  '.repeat(depth)}${signature(field, nameOf)}`,
    ...outline(field.fields, nameOf, depth + 1),
  ]);
}

function signature(field: SpecField, nameOf: NameOf): string {
  const marks = [
    field.default === undefined ? '' : ` = ${JSON.stringify(field.default)}`,
    field.required ? ' -required-' : '',
    field.deprecated === undefined ? '' : ' -deprecated-',
  ];
  return `${nameOf(field)} <${field.type}>${marks.join('')}`;
}

const LINE_WIDTH = 100;

/** Breaks a text into lines. The first line begins with the bullet, and the other lines are indented. */
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
