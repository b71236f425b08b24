// Checks names against Kubernetes' rules: labels and subdomains of DNS, label keys and values. Every check returns the
// fault. Source: RFC 1035, RFC 1123, apimachinery's validation.

const LABEL_1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const LABEL_MAX = 63;
const SUBDOMAIN_MAX = 253;

type NameFault = string | undefined;

/** RFC 1123 label: names of namespaces, ports, containers. */
export function dnsLabelFault(text: string): NameFault {
  if (text.length > LABEL_MAX) return `must have at most ${LABEL_MAX} characters`;
  if (LABEL_1123.test(text)) return undefined;
  return 'must consist of lower case letters, digits and "-", and start and end with a letter or digit';
}

/** RFC 1035 label: names of Services. */
export function dns1035Fault(text: string): NameFault {
  if (text.length > LABEL_MAX) return `must have at most ${LABEL_MAX} characters`;
  if (LABEL_1035.test(text)) return undefined;
  return 'must consist of lower case letters, digits and "-", start with a letter and end with a letter or digit';
}

/** RFC 1123 subdomain: names of most objects. */
export function subdomainFault(text: string): NameFault {
  if (text.length > SUBDOMAIN_MAX) return `must have at most ${SUBDOMAIN_MAX} characters`;
  if (SUBDOMAIN.test(text)) return undefined;
  return 'must consist of lower case letters, digits, "-" and ".", and every part must start and end with a letter or digit';
}

/** A path segment of a URL: names of RBAC objects. */
export function pathSegmentFault(text: string): NameFault {
  if (text === '.' || text === '..') return 'must not be "." or ".."';
  return /[/%]/.test(text) ? 'must not contain "/" or "%"' : undefined;
}

/** A qualified name, `[prefix/]name`: keys of labels and annotations. */
export function qualifiedNameFault(text: string): NameFault {
  const parts = text.split('/');
  const name = parts.at(-1) ?? '';
  const prefix = parts.length > 1 ? parts[0] : undefined;
  if (parts.length > 2) return 'must hold at most one "/", between a domain and a name';
  if (prefix !== undefined) {
    const fault = prefix === '' ? 'must not be empty' : subdomainFault(prefix);
    if (fault !== undefined) return `has a prefix that ${fault}`;
  }
  if (name.length > LABEL_MAX) return `has a name that must have at most ${LABEL_MAX} characters`;
  if (QUALIFIED.test(name)) return undefined;
  return 'must consist of letters, digits, "-", "_" and ".", and start and end with a letter or digit';
}

export function labelValueFault(text: string): NameFault {
  if (text.length > LABEL_MAX) return `must have at most ${LABEL_MAX} characters`;
  if (text === '' || QUALIFIED.test(text)) return undefined;
  return 'must consist of letters, digits, "-", "_" and ".", and start and end with a letter or digit';
}
