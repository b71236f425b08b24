// Renders problems as annotations of a GitHub workflow: commands that the runner finds in the log.

import { formatProblem, type Problem } from '#std/problem.ts';
import { pathInRoot, type ReportContext } from '../context.ts';
import { countOf, validatedSize } from '../order.ts';
import type { ReportedValidation } from '../validation.ts';
import { visible } from '../visible.ts';

/** Maximum number of errors, and of warnings, that GitHub shows per step. */
const ANNOTATIONS_MAX = 10;

export function githubOfValidation({ summary, problems }: ReportedValidation, context: ReportContext): string {
  const headline = problems.length === 0 ? 'no problems' : countOf(problems);
  const end = `${validatedSize(summary)}: ${headline}`;
  return [...annotations(problems, context), end].map((line) => `${line}\n`).join('');
}

/**
 * Returns one line per problem. GitHub limits the number of annotations, so further problems are plain lines. The last
 * annotation states the number of the plain lines.
 */
export function annotations(problems: readonly Problem[], context: ReportContext): readonly string[] {
  return (['error', 'warning'] as const).flatMap((severity) => {
    const all = problems.filter((problem) => problem.severity === severity);
    const fits = all.length <= ANNOTATIONS_MAX;
    const shown = fits ? all : all.slice(0, ANNOTATIONS_MAX - 1);
    const rest = all.slice(shown.length);
    const last = fits ? [] : [`::${severity} title=skep::${rest.length} more of them are in the log of this step`];
    return [...shown.map((problem) => annotation(problem, context)), ...last, ...rest.map(plain)];
  });
}

function annotation({ code, severity, message, place, resource }: Problem, context: ReportContext): string {
  const at =
    place === undefined
      ? []
      : [
          `file=${property(pathInRoot(place.file, context) ?? place.file)}`,
          `line=${place.line}`,
          `col=${place.column}`,
        ];
  const whose = resource === undefined ? '' : `${resource.kind} ${resource.name}: `;
  return `::${severity} ${[...at, `title=${property(code)}`].join(',')}::${data(`${whose}${message}`)}`;
}

/** Returns a line of text in which the runner finds no command, even if a manifest contains commands. */
function plain(problem: Problem): string {
  return visible(
    `- ${formatProblem(problem)
      .replaceAll(/[\r\n]+/g, ' ')
      .replaceAll('##[', '## [')}`,
  );
}

/** Escapes text for a command. Also escapes the older form of commands, which may begin anywhere in a line. */
function data(text: string): string {
  const encoded = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return visible(encoded.replaceAll('##[', '## ['));
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
