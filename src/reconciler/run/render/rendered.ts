// Defines the two commits that a plan compares.

/** Two commits that were compared. */
export interface Rendered {
  /** Folders inside the repository; the empty string stands for the whole repository. */
  readonly paths: readonly string[];
  readonly base: RenderedCommit;
  readonly head: RenderedCommit;
  /**
   * Number of problems of objects that are the same in both commits. They are not listed and do not affect the exit
   * code.
   */
  readonly earlierProblems: number;
  /** Facts that the comparison cannot know, each a noun phrase with its reason. */
  readonly unknown: readonly string[];
}

interface RenderedCommit {
  /** Requested branch, tag or commit. */
  readonly name: string;
  readonly commit: string;
}
