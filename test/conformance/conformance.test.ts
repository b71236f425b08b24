// The official conformance suite: the server of these tests passes everything that is scored, and so does the proxy before
// it in each mode, but for what the committed lists say. The results of a whole run are those of `npm run conformance`.

import { expect, it } from 'vitest';
import { runSubject, SUBJECTS } from '../../scripts/conformance/run.ts';
import { differences } from '../../scripts/conformance/table.ts';

const DEADLINE_MS = 900_000;

/** Those that share their way with another are left to the whole run. */
const WHOLE_RUN_ONLY = ['remote', 'client-direct', 'bridge-2025-2026-stdio', 'bridge-2026-2025-stdio'];

it.each(SUBJECTS.filter(({ name }) => !WHOLE_RUN_ONLY.includes(name)))(
  'every scenario passes that can: $name, $description',
  async (subject) => {
    const reports = await runSubject(subject, subject.revisions);
    expect(reports).toHaveLength(subject.revisions.length);
    expect(differences(reports)).toBe('');
  },
  DEADLINE_MS,
);
