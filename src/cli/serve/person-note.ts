import type { WhoamiAnswer } from '../../schema/index.ts';

/** About the token of a person on a disk, where that person's agents can read it. */
export const personNote = ({ name, project }: WhoamiAnswer): string =>
  `this is a person's token from an earlier version, and it no longer decides: ask for an invitation (stepfast token create ${name} --project ${project} --kind person) and log in with that`;
