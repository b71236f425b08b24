// Lists the output formats of validations and plans. The module of a format is loaded only if the format is used.

import type { RunResult } from '../run/result.ts';
import type { ReportContext } from './context.ts';
import type { ReportedValidation } from './validation.ts';

type Render<T> = (value: T, context: ReportContext) => string | Promise<string>;
type Formats<T> = Readonly<Record<string, () => Promise<Render<T>>>>;

export const VALIDATION_FORMATS = {
  text: async () => (await import('./text.ts')).textOfValidation,
  json: async () => (await import('./formats/json.ts')).jsonOfValidation,
  sarif: async () => (await import('./formats/sarif.ts')).renderValidationSarif,
  junit: async () => (await import('./formats/junit.ts')).junitOfValidation,
  github: async () => (await import('./formats/github.ts')).githubOfValidation,
  markdown: async () => (await import('./formats/markdown.ts')).markdownOfValidation,
} satisfies Formats<ReportedValidation>;

export const PLAN_FORMATS = {
  text: async () => (await import('./text.ts')).textOfPlan,
  json: async () => (await import('./formats/json.ts')).jsonOfPlan,
  sarif: async () => (await import('./formats/sarif.ts')).renderPlanSarif,
  github: async () => (await import('./formats/github-plan.ts')).githubOfPlan,
  markdown: async () => (await import('./formats/markdown.ts')).markdownOfPlan,
} satisfies Formats<RunResult>;

export type ValidationFormat = keyof typeof VALIDATION_FORMATS;
export type PlanFormat = keyof typeof PLAN_FORMATS;

export function formatNames(formats: Formats<never>): readonly string[] {
  return Object.keys(formats);
}
