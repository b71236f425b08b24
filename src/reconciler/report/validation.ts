// Exports the type of a validation for reports.

import type { ManifestValidation } from '../run/validate.ts';

export type ReportedValidation = Pick<ManifestValidation, 'summary' | 'problems' | 'files'>;
