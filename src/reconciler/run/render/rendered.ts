// Defines which two commits a plan compares.

/** Two commits that were compared. */
export interface Rendered {
  /** Folders inside the repository; the empty string is all of it. */
  readonly paths: readonly string[];
  readonly base: RenderedCommit;
  readonly head: RenderedCommit;
  /** Problems of objects that are the same in both commits: they are not listed, and have no influence on the exit code. */
  readonly earlierProblems: number;
  /** Facts that the comparison cannot know, each a noun phrase with its reason. */
  readonly unknown: readonly string[];
}

interface RenderedCommit {
  /** The branch, tag or commit that was requested. */
  readonly name: string;
  readonly commit: string;
}
