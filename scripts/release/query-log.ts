// Loaded into a release before its own code (`node --import`): appends each statement that it sends to PostgreSQL, with what
// it was given and what came back, to the file that SKEP_QUERY_LOG names, one a line.

import { appendFileSync } from 'node:fs';
import pg from 'pg';

const log = process.env.SKEP_QUERY_LOG ?? '';
const prototype: { query: (...args: unknown[]) => unknown } = pg.Client.prototype;
const send = prototype.query;

prototype.query = function query(this: unknown, ...args: unknown[]): unknown {
  const answer = Reflect.apply(send, this, args);
  if (answer instanceof Promise)
    void answer.then(
      (result) => write(args, result),
      () => undefined,
    );
  return answer;
};

function write([statement, values = []]: readonly unknown[], result: unknown): void {
  const given = typeof statement === 'string' ? { text: statement, values } : pick(statement);
  const { rows = [] } = result as { rows?: unknown[] };
  appendFileSync(log, `${JSON.stringify({ ...given, rows })}\n`);
}

function pick(statement: unknown): { text: string; values: unknown } {
  const { text = '', values = [] } = statement as { text?: string; values?: unknown };
  return { text, values };
}
