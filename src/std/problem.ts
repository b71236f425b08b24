// Defines problems: faults that an author must fix. Problems are collected as data, never thrown.

/** A position in a file. `line` and `column` count from 1. `file` is the path within the source. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface ResourceId {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly name: string;
}

export type Severity = 'error' | 'warning';

export interface Problem {
  /** Stable code in kebab case. docs/errors.md has a section for each code. */
  readonly code: string;
  readonly severity: Severity;
  /** A sentence with the fault and its remedy. Never contains a secret. */
  readonly message: string;
  readonly place?: SourcePlace;
  /** JSON pointer (RFC 6901) into the document. */
  readonly pointer?: string;
  readonly resource?: ResourceId;
}

/** Returns `namespace/Kind/name`, or `Kind/name` for cluster-scoped kinds. */
export function formatId(id: ResourceId): string {
  return id.namespace === undefined ? `${id.kind}/${id.name}` : `${id.namespace}/${id.kind}/${id.name}`;
}

/** Returns `file:line:column: severity code: message (id)`. Leaves out a missing place or id. */
export function formatProblem(problem: Problem): string {
  const { place, resource } = problem;
  const where = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `;
  const whose = resource === undefined ? '' : ` (${formatId(resource)})`;
  return `${where}${problem.severity} ${problem.code}: ${problem.message}${whose}`;
}

/** Sorts by file, line and column. Problems without a place come first. */
export function sortByPlace(problems: readonly Problem[]): Problem[] {
  return problems.toSorted(({ place: one }, { place: other }) => {
    if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined);
    if (one.file !== other.file) return one.file < other.file ? -1 : 1;
    return one.line - other.line || one.column - other.column;
  });
}
