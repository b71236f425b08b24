// The part of skep.yaml that is for `skep dev` alone: what runs on the machine in place of images. Knows nothing about processes.

import { list, object, type Static, text } from '../../std/schema.ts';

const IMAGE = object(
  {
    image: text('A name, or a glob such as images.example.com/mcp/*.', { minLength: 1 }),
    command: list(
      text('$(NAME) is a variable of the container.'),
      'Program and arguments; those of the container follow.',
      { minItems: 1 },
    ),
  },
  'What runs in place of an image.',
);

export type ImageRule = Static<typeof IMAGE>;

export const DEV = object(
  {
    images: list(IMAGE, 'Programs of this machine in place of images; the first that fits counts.', { default: [] }),
  },
  'For `skep dev` alone: what may run on this machine.',
);
