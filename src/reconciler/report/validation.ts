// What reports read of a validation. Knows nothing about how it came about.

import type { Validation } from '../run/validate.ts';

export type ReportedValidation = Pick<Validation, 'summary' | 'problems'>;
