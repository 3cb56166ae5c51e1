import { estimateTokens } from '../../machine/index.ts';
import type { Artifact } from '../artifacts/artifact.ts';
import { artifactsPart, inlinable } from './artifacts-part.ts';
import { fill } from './fill.ts';
import { askFor } from './words.ts';

/** Critical artifacts alone, within a number of estimated tokens; `inlined` are those whose text is in it. */
export function artifactsText(
  artifacts: readonly Artifact[],
  more: string,
  cap: { tokens: number },
): { text: string; inlined: readonly string[] } {
  const source = { artifacts, reading: [] };
  const part = artifactsPart(source);
  if (part.total === 0) return { text: '', inlined: [] };
  const closing = `More of it: ${askFor(more, 'artifacts')}.`;
  const room = {
    tokens: cap.tokens - estimateTokens(`${part.title}\n\n${closing}`) - 4,
    characters: Infinity,
  };
  const [filled] = fill([part], inlinable(source), room);
  const { lines = [], inlined = [], shown = 0 } = filled ?? {};
  const whole =
    shown === part.total &&
    artifacts.every(({ id, content }) => content.state !== 'loaded' || inlined.includes(id));
  return { text: [part.title, ...lines, ...(whole ? [] : [closing])].join('\n'), inlined };
}
