// Renders the problems of a validation or plan as SARIF 2.1.0 (OASIS), as GitHub's code scanning accepts it.

import { sha256 } from '#std/hash.ts';
import { formatId, type Problem } from '#std/problem.ts';
import type { RunResult } from '../../run/result.ts';
import { pathInRoot, type ReportContext } from '../context.ts';
import { bySeverity } from '../order.ts';
import type { ReportedValidation } from '../validation.ts';
import { visible } from '../visible.ts';

/** Maximum number of results that code scanning accepts. Code scanning refuses a report with more results. */
const RESULTS_MAX = 25_000;
const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const ROOT = '%SRCROOT%';

export function renderValidationSarif({ problems }: ReportedValidation, context: ReportContext): Promise<string> {
  return renderSarif('validate', problems, context);
}

/** Renders a plan. Failures have no place in a file, so they become notifications of the tool, not results. */
export function renderPlanSarif({ problems, failures }: RunResult, context: ReportContext): Promise<string> {
  const failed = failures.map(({ code, message }): Problem => ({ code, severity: 'error', message }));
  return renderSarif('plan', [...failed, ...problems], context);
}

async function renderSarif(command: string, problems: readonly Problem[], context: ReportContext): Promise<string> {
  const meaningOf = await context.meanings();
  const placed = bySeverity(problems.filter((problem) => problem.place !== undefined));
  const shown = placed.slice(0, RESULTS_MAX);
  const unplaced = problems.filter(({ place }) => place === undefined);
  const codes = [...new Set([...shown, ...unplaced].map(({ code }) => code))].sort();
  const fingerprint = fingerprints();
  const log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: driverOf(codes, meaningOf, context) },
        automationDetails: { id: `skep ${command}/` },
        originalUriBaseIds: { [ROOT]: { description: { text: 'The top of the repository.' } } },
        // Columns of places are offsets into JavaScript strings.
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: true,
            toolExecutionNotifications: [
              ...unplaced.map((problem) => notificationOf(problem, codes)),
              ...omitted(placed.length - shown.length),
            ],
          },
        ],
        results: shown.map((problem) => resultOf(problem, codes, fingerprint(problem), context)),
      },
    ],
  };
  return `${visible(JSON.stringify(log, null, 2))}\n`;
}

function driverOf(codes: readonly string[], meaningOf: (code: string) => string, context: ReportContext): object {
  return {
    name: 'skep',
    semanticVersion: context.version,
    rules: codes.map((code) => {
      const text = meaningOf(code);
      const helpUri = context.helpUri(code);
      return {
        id: code,
        shortDescription: { text: titleOf(code) },
        fullDescription: { text },
        help: { text: `${text} ${helpUri}`, markdown: `${text}\n\n[${code}](${helpUri})` },
        helpUri,
        properties: { tags: ['kubernetes', 'mcp'] },
      };
    }),
  };
}

/** Returns a title, such as `Schema unknown field` for `schema-unknown-field`. */
function titleOf(code: string): string {
  const words = code.replaceAll('-', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function resultOf(problem: Problem, codes: readonly string[], fingerprint: string, context: ReportContext): object {
  const { code, severity, message, place, resource } = problem;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: artifactOf(place?.file ?? '', context),
          region: { startLine: place?.line ?? 1, startColumn: place?.column ?? 1 },
        },
        logicalLocations: resource && [{ fullyQualifiedName: formatId(resource), kind: 'object' }],
      },
    ],
    partialFingerprints: { primaryLocationLineHash: fingerprint },
  };
}

/**
 * Returns the path relative to the top folder of the repository, because the path of that folder differs between
 * machines.
 */
function artifactOf(file: string, context: ReportContext): object {
  const path = pathInRoot(file, context);
  if (path === undefined) return { uri: `file://${encoded(file.startsWith('/') ? file : `${context.root}/${file}`)}` };
  return { uri: encoded(path), uriBaseId: ROOT };
}

function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function notificationOf({ code, severity, message }: Problem, codes: readonly string[]): object {
  return { level: severity, message: { text: message }, associatedRule: { id: code, index: codes.indexOf(code) } };
}

function omitted(count: number): object[] {
  if (count === 0) return [];
  return [{ level: 'warning', message: { text: `${count} more problems were left out of this report.` } }];
}

/**
 * Returns a function that returns the fingerprint of a problem. If an object moves in its file, the fingerprints of its
 * problems do not change. Equal fingerprints are numbered: `:1`, `:2`.
 */
function fingerprints(): (problem: Problem) => string {
  const seen = new Map<string, number>();
  return ({ code, place, pointer, resource }) => {
    const subject = resource === undefined ? place?.file : formatId(resource);
    const hash = sha256(JSON.stringify([code, subject, pointer])).slice(0, 16);
    const count = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, count);
    return `${hash}:${count}`;
  };
}
