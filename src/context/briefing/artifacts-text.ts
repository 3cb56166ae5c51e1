import { estimateTokens } from '../../machine/index.ts';
import type { Artifact } from '../artifacts/artifact.ts';
import { artifactsPart, inlinable } from './artifacts-part.ts';
import { askFor } from './bounded-text.ts';
import { onDemand } from './budget-bounds.ts';
import { fill } from './split-budget.ts';

/**
 * Critical artifacts alone, within a number of estimated tokens: `inlined` are those whose text is in it, `told` also
 * those that have only a line.
 */
export function artifactsText(
  artifacts: readonly Artifact[],
  more: string,
  cap: { tokens: number },
): { text: string; inlined: readonly string[]; told: readonly string[] } {
  const source = { artifacts, reading: [] };
  const part = artifactsPart(source);
  if (part.total === 0) return { text: '', inlined: [], told: [] };
  const closing =
    cap.tokens < onDemand.tokens
      ? `More of it: ${askFor(more, 'artifacts')}.`
      : 'What is not shown is in the files that are named: a section holds about 15,000 tokens.';
  const room = {
    tokens: cap.tokens - estimateTokens(`${part.title}\n\n${closing}`) - 4,
    characters: onDemand.characters - part.title.length - closing.length - 2,
  };
  const [filled] = fill([part], inlinable(source), room);
  const { lines = [], inlined = [], told = [], shown = 0 } = filled ?? {};
  const whole =
    shown === part.total &&
    artifacts.every(({ id, content }) => content.state !== 'loaded' || inlined.includes(id));
  return { text: [part.title, ...lines, ...(whole ? [] : [closing])].join('\n'), inlined, told };
}
