// Defines the part of a validation that reports read.

import type { Validation } from '../run/validate.ts';

export type ReportedValidation = Pick<Validation, 'summary' | 'problems' | 'files'>;
