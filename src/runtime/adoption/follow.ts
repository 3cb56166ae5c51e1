import type { Adopted } from '../../machine/index.ts';
import type { Project } from '../../workspace/index.ts';
import { readInformal } from './find.ts';

/** What the source of an adopted run says now; one that is complete or gone no longer holds the run at a phase. */
export function followSource(project: Project, adopted: Adopted): Adopted {
  const now = readInformal(project, adopted.source);
  const { phase: _, ...over } = adopted;
  if ('why' in now || now.complete) return over;
  const { phase, reading, text } = now;
  return { source: adopted.source, ...(phase ? { phase } : {}), reading, text };
}
