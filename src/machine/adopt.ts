import type { Definition } from './definition.ts';
import { escapePlaceholders } from './placeholders.ts';
import type { Adopted } from './state.ts';

/** The one-step workflow that stands for work which was under way without Stepfast. */
export function adoptedDefinition(name: string, adopted: Adopted): Definition {
  const phase =
    adopted.phase && `Phase ${adopted.phase.current}/${adopted.phase.total}: ${adopted.phase.name}.`;
  return {
    name: slug(name),
    description: `Adopted from ${adopted.source}`,
    type: 'custom',
    required_reading: adopted.reading ?? [],
    steps: [
      {
        id: 'work',
        type: 'action',
        instructions: escapePlaceholders(
          [phase, adopted.text, `Go on with the workflow that ${adopted.source} describes.`]
            .filter((part) => part)
            .join('\n\n'),
        ),
      },
    ],
  };
}

/** Lower case and hyphens, as directory and run names need it. */
export function slug(name: string): string {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return text === '' ? 'workflow' : text;
}
