// Defines headers that keep browsers from treating a response as anything but data.

/** Headers of every response: browsers treat it as data, whatever it contains, and do not show it in a frame. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/**
 * Allows nothing from other hosts and no inline code, and no text ever becomes markup or code (W3C CSP level 3, Trusted
 * Types). Images may be part of the page: tools return them.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Headers of our own pages, which override the headers of every response. */
export const PAGE_HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
};
