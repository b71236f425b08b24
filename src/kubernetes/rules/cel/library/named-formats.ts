// Implements the named formats (`format.named`) for texts. Source: Kubernetes CEL, "Kubernetes format library".

import {
  dns1035Fault,
  dnsLabelFault,
  labelValueFault,
  qualifiedNameFault,
  subdomainFault,
} from '../../formats/names.ts';
import { isBase64Text, isDateText, isDateTimeText, isUuid } from '../../formats/text.ts';
import { parseGoUrl } from '../../formats/url.ts';
import { optionalOf } from '../package.ts';
import { CelFormat, taggedType } from '../tagged.ts';
import type { Library } from './library.ts';

type FaultOf = (text: string) => string | undefined;

const FORMATS: Readonly<Record<string, FaultOf>> = {
  dns1123Label: dnsLabelFault,
  dns1123Subdomain: subdomainFault,
  dns1035Label: dns1035Fault,
  qualifiedName: qualifiedNameFault,
  dns1123LabelPrefix: prefixOf(dnsLabelFault),
  dns1123SubdomainPrefix: prefixOf(subdomainFault),
  dns1035LabelPrefix: prefixOf(dns1035Fault),
  labelValue: labelValueFault,
  uri: unless('is not a URI', (text) => parseGoUrl(text) !== undefined),
  uuid: unless('does not match the UUID format', isUuid),
  byte: unless('invalid base64', isBase64Text),
  date: unless('invalid date', isDateText),
  datetime: unless('invalid datetime', isDateTimeText),
};

/** Receiver of `format.named`. */
const Formats = taggedType<string>();

export const FORMAT_LIBRARY: Library = {
  types: { 'kubernetes.NamedFormat': CelFormat, formatfunctions: Formats },
  constants: { format: ['formatfunctions', new Formats('format')] },
  functions: {
    'kubernetes.NamedFormat.validate(string): optional<list<string>>': ({ value: faults }: CelFormat, text: string) => {
      const found = faults(text);
      return optionalOf(found.length === 0 ? undefined : found);
    },
    'formatfunctions.named(string): optional<kubernetes.NamedFormat>': (_: unknown, name: string) => {
      const faultOf = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
      return optionalOf(faultOf === undefined ? undefined : formatOf(faultOf));
    },
    ...Object.fromEntries(
      Object.entries(FORMATS).map(([name, faultOf]) => [
        `formatfunctions.${name}(): kubernetes.NamedFormat`,
        () => formatOf(faultOf),
      ]),
    ),
  },
};

function formatOf(faultOf: FaultOf): CelFormat {
  return new CelFormat((text) => {
    const fault = faultOf(text);
    return fault === undefined ? [] : [fault];
  });
}

/** Checks the prefix of a name. The prefix may end in a hyphen, because the server appends text to it. */
function prefixOf(faultOf: FaultOf): FaultOf {
  return (text) => faultOf(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);
}

function unless(fault: string, accepts: (text: string) => boolean): FaultOf {
  return (text) => (accepts(text) ? undefined : fault);
}
