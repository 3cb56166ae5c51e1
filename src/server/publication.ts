import { grantsOf, hashDefinition, hashGrants, needsTrust } from '../definition/index.ts';
import type { Definition } from '../machine/index.ts';
import { bundledWorkflows } from '../workspace/index.ts';
import type { Backend } from './backend.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';

type Publications = Pick<Backend, 'publications'>;

/** What a person lets run: prose can change without being published again. */
const digestOf = (definition: Definition): string => hashGrants(grantsOf(definition));

/** Throws `not_published` where a project demands it. What starts no commands and what is bundled need none. */
export async function requirePublished(
  definition: Definition,
  { project }: Principal,
  backend: Publications,
): Promise<void> {
  if (!needsTrust(definition) || bundled().has(digestOf(definition))) return;
  if (await backend.publications(project.id).mayStart(digestOf(definition))) return;
  throw problem('not_published', `Nobody has published '${definition.name}' in this project as it is.`, {
    next: `a person must publish it: stepfast publish ${definition.name}`,
  });
}

export async function publish(
  definition: Definition,
  { project, name }: Principal,
  backend: Publications,
): Promise<{ name: string; hash: string; digest: string }> {
  const [hash, digest] = [hashDefinition(definition), digestOf(definition)];
  await backend.publications(project.id).publish({ definition, hash, digest, by: name });
  return { name: definition.name, hash, digest };
}

let known: ReadonlySet<string> | undefined;

/** The digests of the workflows that come with this version. */
function bundled(): ReadonlySet<string> {
  known ??= new Set([...bundledWorkflows().values()].map(digestOf));
  return known;
}
