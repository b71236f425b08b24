// Names the parts of what a program does, for whoever measures them. Knows nothing about who that is.

export interface Trace {
  /** Runs a task as a part of what is under way; what it throws is passed on. Facts never hold a secret. */
  span<T>(name: string, facts: Readonly<Record<string, string | number>>, task: () => Promise<T>): Promise<T>;
}

export const UNTRACED: Trace = { span: (_name, _facts, task) => task() };
