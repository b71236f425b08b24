// Exports the type of a validation for reports.

import type { Validation } from '../run/validate.ts';

export type ReportedValidation = Pick<Validation, 'summary' | 'problems' | 'files'>;
