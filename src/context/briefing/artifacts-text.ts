import { estimateTokens } from '../../machine/index.ts';
import type { Artifact } from '../artifacts/artifact.ts';
import { artifactsPart, inlinable } from './artifacts-part.ts';
import { sectionPointer } from './bounded-text.ts';
import { partInfo } from './briefing-part.ts';
import { maxArtifacts } from './budget-bounds.ts';
import { splitBudget } from './split-budget.ts';

/**
 * The critical artifacts section within a token limit. `inlined` are the ids with their full text, `listed` also the
 * ids with only a line.
 */
export function artifactsText(
  artifacts: readonly Artifact[],
  more: string,
  cap: { tokens: number },
): { text: string; inlined: readonly string[]; listed: readonly string[] } {
  const source = { artifacts, reading: [] };
  const part = artifactsPart(source);
  const { title } = partInfo.artifacts;
  if (part.total === 0) return { text: '', inlined: [], listed: [] };
  const closing =
    cap.tokens < maxArtifacts.tokens
      ? `More: ${sectionPointer(more, 'artifacts')}.`
      : 'An answer holds about 25,000 tokens: load the rest one by one, or read the named files for the rest.';
  const room = {
    tokens: cap.tokens - estimateTokens(`${title}\n\n${closing}`) - 4,
    characters: maxArtifacts.characters - title.length - closing.length - 2,
  };
  const [filled] = splitBudget([part], inlinable(source), room);
  const { lines = [], inlined = [], listed = [], shown = 0 } = filled ?? {};
  const whole =
    shown === part.total &&
    artifacts.every(({ id, content }) => content.state !== 'loaded' || inlined.includes(id));
  return { text: [title, ...lines, ...(whole ? [] : [closing])].join('\n'), inlined, listed };
}
