import { hashDefinition, hashWithoutProse, needsTrust } from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import { bundledWorkflows } from '../workspace/index.ts';
import type { Backend } from './backend.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';

type Publications = Pick<Backend, 'publications'>;

/** Throws `not_published` where a project demands it. What starts no commands and what is bundled need none. */
export async function requirePublished(
  definition: Definition,
  { project }: Principal,
  backend: Publications,
): Promise<void> {
  if (!needsTrust(definition)) return;
  const digest = hashWithoutProse(definition);
  if (bundled().has(digest) || (await backend.publications(project.id).mayStart(digest))) return;
  throw problem(
    'not_published',
    `'${definition.name}' has not been published in this project in this version.`,
    {
      next: `a person must publish it: stepfast publish ${definition.name}`,
    },
  );
}

export async function publish(
  definition: Definition,
  { project, name }: Principal,
  backend: Publications,
): Promise<{ name: string; hash: string; digest: string }> {
  const [hash, digest] = [hashDefinition(definition), hashWithoutProse(definition)];
  await backend.publications(project.id).publish({ definition, hash, digest, by: name });
  return { name: definition.name, hash, digest };
}

let known: ReadonlySet<string> | undefined;

/** The digests of the workflows that come with this version. */
function bundled(): ReadonlySet<string> {
  known ??= new Set([...bundledWorkflows().values()].map(hashWithoutProse));
  return known;
}
