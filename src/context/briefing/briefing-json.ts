import type { Briefing } from './compile-briefing.ts';

/** A briefing without its rendered texts. */
type BriefingJson = Pick<Briefing, 'id' | 'run' | 'at' | 'tokens' | 'characters' | 'sections'>;

export function briefingJson({ id, run, at, tokens, characters, sections }: Briefing): BriefingJson {
  return { id, run, at, tokens, characters, sections };
}
