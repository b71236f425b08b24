// Defines the words that make sentences hard to read, and how they are recognised.

/** The words that are counted, and how CONTRIBUTING.md describes them. */
export const WORDS = {
  where: '"where", per 1,000 words: for places only',
  what: '"what", per 1,000 words: write the noun',
  if: '"if", per 1,000 words: for conditions; the only bound that rises',
  starts:
    'sentences that begin with What, Of, Those, One, Where, By, As or Whoever, in a hundred: begin with the subject',
  isNo: '"is no", "are no", "was no": write "is not a"',
  anew: '"anew": write "again"',
  knowsNothing: '"knows nothing", "know nothing": leave it out',
  thatOf: '"that of", "those of": write the noun again',
  bareVerb: 'clauses that end in a bare verb, as in "if there is none.": say what, as in "if the kind is unknown."',
  names: 'declared names with a banned word in them',
} as const;

export type Word = keyof typeof WORDS;

/** No name contains these, in any case. */
export const BANNED_NAMES = [
  'judge',
  'defendant',
  'verdict',
  'innocent',
  'wish',
  'wanted',
  'told',
  'sight',
  'unseen',
  'whoever',
] as const;

// "Insights" is a word of its own, and `forgetOld` contains "told" by accident.
const SPECIAL: Readonly<Record<string, string>> = { sight: 'sight(?!s)', told: '(?<!ge)told' };
export const BANNED_IN_NAMES = new RegExp(BANNED_NAMES.map((name) => SPECIAL[name] ?? name).join('|'), 'i');
export const SQL =
  /^\s*(?:(?:alter|create|delete|insert|select|update|with)\b.*\b(?:from|into|set|table|index|as)\b|(?:and|from|on|where)\b.*(?:=|\b(?:conflict|distinct|null)\b))/s;
/** Names of columns of the database stay. */
export const COLUMN = /^[a-z]+(_[a-z]+)+$/;
export const STARTS = /^(What|Of|Those|One|Where|By|As|Whoever)\b/;
export const PATTERNS = {
  isNo: /(?<!\bthere )\b(is|are|was) no\b(?! longer)/gi,
  anew: /\banew\b/gi,
  knowsNothing: /\bknows? nothing\b/gi,
  thatOf: /\b(that|those) of\b/gi,
  bareVerb:
    /\b(if|unless|as) (it|they|there|one) (may|is|are|was|were|can|has|have|does|do)( be| not| any| none)?[.;,)](?=\s|$)/gi,
} as const;
