// Defines the style sheet of the authorization server's pages, which is part of each page and supports dark and light
// mode.

import { hash } from 'node:crypto';

export const STYLE = `
:root { color-scheme: light dark; --back: #f6f5f1; --front: #1d1c19; --soft: #5d5a52; --card: #fff; --line: #d9d5ca; --act: #8a5a00; --on-act: #fff; }
@media (prefers-color-scheme: dark) { :root { --back: #191815; --front: #f1efe8; --soft: #b3aea2; --card: #23211d; --line: #423f37; --act: #f0b64a; --on-act: #191815; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back); color: var(--front); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 30rem; padding: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 .75rem; font-size: 1.3rem; line-height: 1.3; }
h2 { margin: 1.25rem 0 .25rem; font-size: 1rem; }
p, ul { margin: .5rem 0; }
ul { padding-left: 1.25rem; }
.soft { color: var(--soft); font-size: .9rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
button, .button { min-height: 2.75rem; padding: .5rem 1.25rem; font: inherit; font-weight: 600; border: 1px solid var(--act); border-radius: .5rem; background: transparent; color: var(--act); text-decoration: none; cursor: pointer; }
.main { background: var(--act); color: var(--on-act); }
a { color: var(--act); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`;

/**
 * Content security policy of the pages (W3C CSP level 3). Allows only this style sheet and forms to this server, and
 * forbids frames.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
