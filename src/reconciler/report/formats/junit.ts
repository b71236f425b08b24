// A validation as JUnit XML: a suite for each file that has problems, a case for each of them, and one for the whole.

import { formatId, formatProblem, type Problem } from '#std/problem.ts';
import { pathInRoot, type ReportContext } from '../context.ts';
import { validatedSize } from '../order.ts';
import type { ReportedValidation } from '../validation.ts';
import { visible } from '../visible.ts';

export function junitOfValidation({ summary, problems }: ReportedValidation, context: ReportContext): string {
  const byFile = Map.groupBy(problems, ({ place }) => fileOf(place?.file, context));
  const whole = validatedSize(summary);
  const suites = [
    suite('skep validate', [`    <testcase${attributes({ name: whole, classname: 'skep validate' })}/>`], 0),
    ...[...byFile].map(([file, each]) => suite(file, each.map(testcase), failuresIn(each))),
  ];
  const totals = { name: 'skep validate', tests: problems.length + 1, failures: failuresIn(problems), errors: 0 };
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes(totals)}>`,
    ...suites,
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

function fileOf(file: string | undefined, context: ReportContext): string {
  return file === undefined ? 'the whole repository' : (pathInRoot(file, context) ?? file);
}

function failuresIn(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

function suite(name: string, cases: readonly string[], failures: number): string {
  const head = `  <testsuite${attributes({ name, tests: cases.length, failures, errors: 0, skipped: 0 })}>`;
  return [head, ...cases, '  </testsuite>'].join('\n');
}

/** A warning fails nothing: it is what the case has to say. */
function testcase(problem: Problem): string {
  const { code, severity, message, pointer = '', resource, place } = problem;
  const subject = resource === undefined ? '' : ` ${formatId(resource)}`;
  const head = `    <testcase${attributes({ name: `${code}${subject} ${pointer}`.trimEnd(), classname: place?.file ?? '' })}>`;
  const text = escaped(formatProblem(problem));
  const body =
    severity === 'error'
      ? `      <failure${attributes({ type: code, message })}>${text}</failure>`
      : `      <system-out>${text}</system-out>`;
  return [head, body, '    </testcase>'].join('\n');
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
 * XML 1.0 has no way to write most control characters, nor halves of surrogate pairs and U+FFFE. Line breaks
 * as numbers: the report may pass through the log of a workflow, whose runner looks for commands.
 */
function escaped(text: string): string {
  return visible(text.toWellFormed().replaceAll(/[\ufffe\uffff]/g, '\ufffd'))
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replaceAll('\n', '&#10;');
}
