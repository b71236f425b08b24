// Starts the console in the page.

import { h, render } from 'preact';
import { byId } from '#std/page/shared/elements.ts';
import { createApi } from './api.ts';
import { Console } from './console.ts';
import { restorePlace } from './sign-in.ts';

const root = byId('console');
restorePlace();
root.replaceChildren();
render(h(Console, { api: createApi() }), root);
