// Replaces secrets in lines of logs: the values of the Secrets that a pod reads, in the forms in which programs print
// them, and texts that look like credentials.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, objectsIn, parseJson } from '#std/json.ts';
import { asObject, containersOf } from './find-pods.ts';

const MASK = '***';

/** Minimum length of a masked value: a shorter one is part of many words, and would hide the log. */
const VALUE_MIN = 4;

/** Spaces are limited, and a JWT begins where no word precedes it, so that the time is linear in the length of a line. */
const CREDENTIALS: readonly RegExp[] = [
  /(?<=\b(?:bearer|basic|negotiate)\s{1,16})[\w+/=.~-]{8,}/gi,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)*/g,
  /(?<=:\/\/)[^\s/@:]*:[^\s/@]+(?=@)/g,
  /(?<=\b(?:password|passwd|secret|token|api[-_]?key|authorization|client[-_]?secret)["']?\s{0,16}[:=]\s{0,16}["']?)(?!\*\*\*|bearer\s|basic\s|negotiate\s)[^\s"',;&]{4,}/gi,
];

const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/;

/** Replaces the lines of a private key that begins before the first line: the end of a log may begin within a key. */
export function hiddenKeyEnd(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => KEY_END.test(line));
  const isCut = end >= 0 && !lines.slice(0, end + 1).some((line) => KEY_BEGIN.test(line));
  return isCut ? lines.map((line, index) => (index <= end ? MASK : line)) : lines;
}

/** Returns a function that masks lines of one log. `values` are from `secretTexts`. */
export function lineMask(values: ReadonlySet<string>): (line: string) => string {
  const longestFirst = [...values].toSorted((a, b) => b.length - a.length);
  let inKey = false;
  return (line) => {
    if (KEY_BEGIN.test(line)) inKey = true;
    const isHidden = inKey;
    if (KEY_END.test(line)) inKey = false;
    if (isHidden) return MASK;
    const known = longestFirst.reduce((text, value) => text.replaceAll(value, MASK), line);
    return CREDENTIALS.reduce((text, pattern) => text.replace(pattern, MASK), known);
  };
}

/** Returns the values of a Secret in the forms in which a program may print them. */
export function secretTexts({ data }: KubeObject): readonly string[] {
  const encoded = isObject(data) ? Object.values(data).filter((value) => typeof value === 'string') : [];
  return encoded.flatMap((text) => [text, ...formsOf(Buffer.from(text, 'base64').toString())]).filter(isLong);
}

function formsOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const assigned = lines.flatMap((line) => /^[\w.-]+\s*[=:]\s*(.+)$/.exec(line)?.[1] ?? []);
  const unquoted = assigned.map((value) => value.replace(/^(["'])(.*)\1$/, '$2'));
  const values = new Set([text, text.trim(), ...lines, ...assigned, ...unquoted, ...leavesOf(parsed(text))]);
  return [...values].flatMap((value) => [value, encodeForm(value), JSON.stringify(value).slice(1, -1)]);
}

function encodeForm(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

function parsed(text: string): unknown {
  return /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

function isLong({ length }: string): boolean {
  return length >= VALUE_MIN;
}

/**
 * Returns the names of the Secrets that a pod reads. Returns undefined if the pod also reads secrets that the cluster
 * does not store: they cannot be found in its log.
 */
export function secretsOfPod(pod: KubeObject): ReadonlySet<string> | undefined {
  const volumes = objectsIn(asObject(pod.spec).volumes);
  const isElsewhere = volumes.some(({ csi }) => isObject(csi) && String(csi.driver).includes('secret'));
  if (isElsewhere) return undefined;
  const projected = volumes.flatMap((volume) => objectsIn(asObject(volume.projected).sources));
  const named = [
    ...volumes.map(({ secret }) => asObject(secret).secretName),
    ...projected.map(({ secret }) => asObject(secret).name),
    ...containersOf(pod).flatMap(({ spec }) => [
      ...objectsIn(spec.env).map(({ valueFrom }) => asObject(asObject(valueFrom).secretKeyRef).name),
      ...objectsIn(spec.envFrom).map(({ secretRef }) => asObject(secretRef).name),
    ]),
  ];
  return new Set(named.filter((name) => typeof name === 'string'));
}
