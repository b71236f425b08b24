// Renders a validation as JUnit XML. Each file is a test case, which fails if the file has an error.

import { formatProblem, type Problem } from '#std/problem.ts';
import { pathInRoot, type ReportContext } from '../context.ts';
import type { ReportedValidation } from '../validation.ts';
import { visible } from '../visible.ts';

const NAME = 'skep validate';

export function junitOfValidation({ files, problems }: ReportedValidation, context: ReportContext): string {
  const shown = (file: string): string => pathInRoot(file, context) ?? file;
  const byFile = new Map(files.map((file) => [shown(file), [] as Problem[]]));
  for (const problem of problems) {
    const file = problem.place === undefined ? NO_FILE : shown(problem.place.file);
    byFile.set(file, [...(byFile.get(file) ?? []), problem]);
  }
  const cases = [...byFile].map(([file, each]) => testcase(file, each));
  const failures = [...byFile.values()].filter((each) => errorsIn(each).length > 0).length;
  const totals = { tests: cases.length, failures, errors: 0 };
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: NAME, ...totals })}>`,
    `  <testsuite${attributes({ name: NAME, ...totals, skipped: 0 })}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

/** Name of the test case for problems without a file, such as problems of policies. */
const NO_FILE = 'the whole repository';

function errorsIn(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ severity }) => severity === 'error');
}

/** Renders one test case. Warnings are in the output of the test case, which does not fail because of warnings. */
function testcase(file: string, problems: readonly Problem[]): string {
  const [first, ...others] = errorsIn(problems);
  const head = `    <testcase${attributes({ name: file, classname: NAME })}`;
  if (problems.length === 0) return `${head}/>`;
  const text = escaped(problems.map(formatProblem).join('\n'));
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const body =
    first === undefined
      ? `      <system-out>${text}</system-out>`
      : `      <failure${attributes({ type: first.code, message: `${first.message}${more}` })}>${text}</failure>`;
  return [`${head}>`, body, '    </testcase>'].join('\n');
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/**
 * Escapes text. XML 1.0 cannot contain most control characters, halves of surrogate pairs and U+FFFE. Line breaks are
 * written as character references, so that a workflow's runner finds no commands at the start of lines.
 */
function escaped(text: string): string {
  return visible(text.toWellFormed().replaceAll(/[\ufffe\uffff]/g, '\ufffd'))
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replaceAll('\n', '&#10;');
}
