import { commandName } from '../../command-name.ts';
import { type BriefingSection, compileBriefing, withoutSecrets } from '../../context/index.ts';
import { leastBriefing, statusOf, suffixOf } from '../../machine/index.ts';
import { nextForShell } from '../../messages/index.ts';
import type { Loaded, StoredEntry } from '../../store/index.ts';
import type { Briefings } from '../briefing/briefings.ts';
import { cursorFor } from '../find-cursor.ts';
import { checkPages } from './check-pages.ts';
import { journalPage } from './journal-page.ts';
import type { LogRequest, PageSource, RowSource } from './page-source.ts';
import type { BriefingPage, LogPage } from './pages.ts';
import { compileRunPage } from './run-page.ts';

interface PageParts {
  load(run: string): Promise<Loaded | undefined>;
  entries(run: string): Promise<StoredEntry[]>;
  rows: RowSource;
  briefings: Briefings;
  /** For placeholders in instructions. */
  values: Record<string, string>;
  /** Where logs are files. Elsewhere the end of the output is all there is. */
  log?(view: Loaded, request: LogRequest): Promise<LogPage>;
}

/** The pages of a project, wherever its runs are. */
export function createPages({ load, entries, rows, briefings, values, log }: PageParts): PageSource {
  return {
    ...rows,
    async page(run) {
      const view = await load(run);
      return view && compileRunPage(view, await entries(run));
    },
    async journal(run, request) {
      const view = await load(run);
      return view && journalPage(view.definition, await entries(run), request);
    },
    async briefing(run) {
      const view = await load(run);
      return view && (await briefingPage(view));
    },
    async log(run, request) {
      const view = await load(run);
      return view && (log ? await log(view, request) : storedEnd(view, await entries(run), request));
    },
  };

  /** As an agent would get it now after a loss of context. Records nothing. */
  async function briefingPage(view: Loaded): Promise<BriefingPage> {
    const { run, definition, state } = view;
    const cursor = cursorFor(view, {});
    const { say, commands } = nextForShell(statusOf(definition, state, { cursor, values }).action);
    const source = await briefings.gather(view, {
      cursor,
      next: [say, ...commands.slice(0, 1)].join(' '),
      more: `${commandName()} prime ${suffixOf(run)} --section {section}`,
      force: true,
    });
    const cap = { tokens: definition.briefing?.budget ?? leastBriefing.tokens };
    const { text, tokens, sections } = withoutSecrets(compileBriefing(source, cap));
    return { text, tokens, parts: partsIn(text, sections) };
  }
}

/** The parts of a briefing are in its text, in their order. */
function partsIn(text: string, sections: readonly BriefingSection[]): BriefingPage['parts'] {
  let end = 0;
  return sections.map(({ title, text: part, tokens, shown, total }) => {
    const found = text.indexOf(part, end);
    const from = found < 0 ? end : found;
    end = found < 0 ? end : found + part.length;
    return { title, tokens, from, to: end, shown, total };
  });
}

function storedEnd(
  { definition, state }: Loaded,
  history: readonly StoredEntry[],
  { check, gate, from }: LogRequest,
): LogPage {
  const page = checkPages(definition, state, history).find(({ id }) => id === check);
  const bytes = Buffer.from(withoutSecrets(page?.gates[gate]?.tail ?? ''));
  const text = bytes.toString('utf8', Math.min(from, bytes.length));
  return { text, from, to: bytes.length, size: bytes.length, isLive: page?.state === 'running' };
}
