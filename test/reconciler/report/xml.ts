// JUnit XML as its readers take it: which elements may stand in which, and with which attributes. Reads only what our own
// writer writes.

import { spawnSync } from 'node:child_process';

/** Says how somebody gets the schema, which is not part of this repository. */
export const XSD_SOURCE = 'JUNIT_XSD, a path of junit-10.xsd (github.com/jenkinsci/xunit-plugin)';

interface ElementRule {
  readonly parents: readonly string[];
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const COUNTS = ['tests', 'failures', 'errors'];
const RULES: Readonly<Record<string, ElementRule>> = {
  testsuites: { parents: [''], required: [], optional: ['name', 'time', ...COUNTS] },
  testsuite: { parents: ['testsuites'], required: ['name', ...COUNTS], optional: ['skipped', 'time', 'file'] },
  testcase: { parents: ['testsuite'], required: ['name'], optional: ['classname', 'time'] },
  failure: { parents: ['testcase'], required: [], optional: ['type', 'message'] },
  'system-out': { parents: ['testcase'], required: [], optional: [] },
};

const TOKEN = /<(?<close>\/)?(?<name>[a-z-]+)(?<attributes>(?: [a-z]+="[^"<]*")*)(?<empty>\/)?>|(?<text>[^<]+)/y;
const ENTITY = /&(?!(?:amp|lt|gt|quot|apos|#10);)/;
const CHARACTERS = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

interface Open {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  cases: number;
  failures: number;
}

/** What is wrong with it, in words. */
export function junitFaults(xml: string): readonly string[] {
  const faults: string[] = [];
  const body = xml.replace('<?xml version="1.0" encoding="UTF-8"?>\n', '');
  if (!CHARACTERS.test(xml) || ENTITY.test(xml)) faults.push('characters that XML has not');
  const open: Open[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < body.length) {
    const token = TOKEN.exec(body)?.groups;
    if (token === undefined) return [...faults, 'no XML'];
    if (token.name === undefined) continue;
    if (token.close !== undefined) {
      faults.push(...closed(open.pop(), token.name));
      continue;
    }
    const attributes = new Map(
      [...(token.attributes ?? '').matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
    );
    faults.push(...opened(token.name, attributes, open.at(-1)?.name ?? ''));
    for (const each of open) {
      if (token.name === 'testcase') each.cases += 1;
      if (token.name === 'failure') each.failures += 1;
    }
    if (token.empty === undefined) open.push({ name: token.name, attributes, cases: 0, failures: 0 });
  }
  return open.length === 0 ? faults : [...faults, 'an element is not closed'];
}

function opened(name: string, attributes: ReadonlyMap<string, string>, parent: string): readonly string[] {
  const rule = RULES[name];
  if (rule === undefined) return [`no element ${name}`];
  const known = [...rule.required, ...rule.optional];
  return [
    ...(rule.parents.includes(parent) ? [] : [`${name} in ${parent}`]),
    ...rule.required.filter((key) => !attributes.has(key)).map((key) => `${name} without ${key}`),
    ...[...attributes.keys()].filter((key) => !known.includes(key)).map((key) => `${name} with ${key}`),
  ];
}

function closed(element: Open | undefined, name: string): readonly string[] {
  if (element?.name !== name) return [`</${name}> closes ${element?.name}`];
  const reported = { tests: element.cases, failures: element.failures };
  return Object.entries(reported).flatMap(([key, count]) => {
    const claimed = element.attributes.get(key);
    return claimed === undefined || claimed === String(count) ? [] : [`${name} counts ${claimed} ${key}, not ${count}`];
  });
}

/** What xmllint says by the common XSD. Undefined if one of the two is missing. */
export function xsdVerdict(xml: string): string | undefined {
  const xsd = process.env.JUNIT_XSD;
  if (xsd === undefined) return undefined;
  const { error, status, stderr } = spawnSync('xmllint', ['--noout', '--schema', xsd, '-'], {
    input: xml,
    encoding: 'utf8',
  });
  if (error !== undefined) return undefined;
  return status === 0 ? '' : stderr;
}
