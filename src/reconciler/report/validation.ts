// What reports read of a validation.

import type { Validation } from '../run/validate.ts';

export type ReportedValidation = Pick<Validation, 'summary' | 'problems' | 'files'>;
