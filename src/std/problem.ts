// What an author must fix, as data: collected, never thrown.

/** A position in a source file; `line` and `column` count from 1, `file` is as the source names it. */
export interface Place {
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
  /** Stable kebab-case code; every code has a section in docs/errors.md. */
  readonly code: string;
  readonly severity: Severity;
  /** One sentence: what is wrong, and what would be right. Never holds a secret value. */
  readonly message: string;
  readonly place?: Place;
  /** JSON pointer (RFC 6901) into the document. */
  readonly pointer?: string;
  readonly resource?: ResourceId;
}

/** `namespace/Kind/name`; cluster-scoped kinds have no namespace part. */
export function formatId(id: ResourceId): string {
  return id.namespace === undefined ? `${id.kind}/${id.name}` : `${id.namespace}/${id.kind}/${id.name}`;
}

/** `file:line:column: severity code: message (id)`, the parts that are known. */
export function formatProblem(problem: Problem): string {
  const { place, resource } = problem;
  const where = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `;
  const whose = resource === undefined ? '' : ` (${formatId(resource)})`;
  return `${where}${problem.severity} ${problem.code}: ${problem.message}${whose}`;
}

/** By file, line and column. Problems without a place come first. */
export function sortByPlace(problems: readonly Problem[]): Problem[] {
  return problems.toSorted(({ place: one }, { place: other }) => {
    if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined);
    if (one.file !== other.file) return one.file < other.file ? -1 : 1;
    return one.line - other.line || one.column - other.column;
  });
}
