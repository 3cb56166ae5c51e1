import { formatHandle, isWithin } from '../../machine/index.ts';
import type { Loaded } from '../../store/index.ts';
import type { Visit } from './visit.ts';

/**
 * What a person types when the turn ends before a position that wants another context: a model cannot do it, and its
 * own words may not have said so. Told once for each request.
 */
export function toType({ run, state }: Loaded, { input, notebook, session }: Visit): string | undefined {
  if (input.agent) return undefined;
  for (const { boundary, path, visit } of Object.values(state.cursors)) {
    if (boundary?.state !== 'requested' || !isWithin(boundary.session, session)) continue;
    const at = formatHandle(run, path, visit);
    if (!notebook.tellOnce(at)) continue;
    const { action, policy } = boundary;
    const wants = action === 'clear' ? 'a fresh context' : 'a compacted context';
    const otherwise =
      policy === 'require'
        ? `It waits for that; 'stepfast proceed' lets it pass.`
        : `Any other message goes on in this context.`;
    return `Stepfast: ${path} begins with ${wants}. Type /${action}, then: continue. ${otherwise}`;
  }
  return undefined;
}
