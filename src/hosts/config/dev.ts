// Defines the part of skep.yaml that only `skep dev` uses: programs that run on this machine in place of images.

import { PACKAGE_TYPES } from '#registry/catalogue/packages.ts';
import { choice, list, object, type Static, text } from '#std/schema.ts';

const IMAGE = object(
  {
    image: text('A name, or a glob such as images.example.com/mcp/*.', { minLength: 1 }),
    command: list(
      text('$(NAME) is a variable of the container.'),
      'Program and arguments; the arguments of the container follow.',
      { minItems: 1 },
    ),
  },
  'A program that runs in place of an image.',
);

export type ImageRule = Static<typeof IMAGE>;

export const DEV = object(
  {
    images: list(IMAGE, 'Programs of this machine in place of images; the first match counts.', { default: [] }),
    run: list(
      choice('npm: needs npm on this machine; pypi: needs uv.', PACKAGE_TYPES),
      'Types of packages that run in place of an image if an entry names the image and a package in an exact version; the first type in this list counts.',
      { default: [] },
    ),
  },
  'For `skep dev` alone: programs that may run on this machine.',
);
