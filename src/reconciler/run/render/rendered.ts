// Defines the description of a comparison of two commits.

export interface Rendered {
  /** Folders inside the repository; an empty text is the whole repository. */
  readonly paths: readonly string[];
  readonly base: RenderedCommit;
  readonly head: RenderedCommit;
  /**
   * Number of problems at the head that the base has too, in unchanged objects. These problems are not listed and do
   * not change the exit code.
   */
  readonly earlierProblems: number;
  /** Facts that the comparison cannot determine, as noun phrases with a reason. */
  readonly unknown: readonly string[];
}

interface RenderedCommit {
  /** Branch, tag or commit that was requested. */
  readonly name: string;
  readonly commit: string;
}
