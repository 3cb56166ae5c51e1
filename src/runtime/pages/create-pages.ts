import { commandName } from '../../command-name.ts';
import { type BriefingSection, compileBriefing, withoutSecrets } from '../../context/index.ts';
import { type Definition, leastBriefing, statusOf, suffixOf } from '../../machine/index.ts';
import { nextForShell } from '../../messages/index.ts';
import type { Loaded, StoredEntry } from '../../store/index.ts';
import type { Workspace } from '../../workspace/index.ts';
import type { Briefings } from '../briefing/briefings.ts';
import { cursorFor } from '../find-cursor.ts';
import { createGraph } from '../workflow/graph.ts';
import { checkPages } from './check-pages.ts';
import { dryRun } from './dry-run-page.ts';
import { inTurns, withoutSecretsInTurns } from './in-turns.ts';
import { journalPage } from './journal-page.ts';
import type { LogRequest, PageSource, RowSource, WorkflowName } from './page-source.ts';
import type { BriefingPage, FilesPage, LogPage, WorkflowRow } from './pages.ts';
import { shownRow } from './rows.ts';
import { compileRunPage } from './run-page.ts';

interface PageParts {
  load(run: string): Promise<Loaded | undefined>;
  entries(run: string, after?: number, most?: number): Promise<StoredEntry[]>;
  rows: RowSource;
  briefings: Briefings;
  workspace: Workspace;
  workflows(): Promise<WorkflowRow[]>;
  /** Where logs are files. Elsewhere the end of the output is all there is. */
  log?(view: Loaded, request: LogRequest): Promise<LogPage>;
  files?(view: Loaded, entries: readonly StoredEntry[]): Promise<FilesPage>;
}

/** The pages of a project, wherever its runs are. */
export function createPages(parts: PageParts): PageSource {
  const { load, entries, rows, briefings, workspace, workflows, log, files } = parts;
  const { values, hasFiles } = workspace;
  return {
    counts: rows.counts,
    async rows(request) {
      const found = await rows.rows(request);
      return withoutSecrets({ ...found, rows: found.rows.map(shownRow) });
    },
    needs: async (limit) => withoutSecrets((await rows.needs(limit)).map(shownRow)),
    subscribe: (listener) =>
      rows.subscribe((change) =>
        listener('row' in change ? withoutSecrets({ row: shownRow(change.row) }) : change),
      ),
    async page(run) {
      const view = await load(run);
      return view && (await withoutSecretsInTurns(compileRunPage(view, await entries(run))));
    },
    async journal(run, request) {
      const view = await load(run);
      if (!view) return undefined;
      return await withoutSecretsInTurns(
        await journalPage(view, request, (after, most) => entries(run, after, most), !hasFiles),
      );
    },
    async briefing(run) {
      const view = await load(run);
      return view && (await briefingPage(view));
    },
    async log(run, request) {
      const view = await load(run);
      return view && (log ? await log(view, request) : storedEnd(view, await entries(run), request));
    },
    async files(run) {
      const view = await load(run);
      return view && (files ? withoutSecrets(await files(view, await entries(run))) : {});
    },
    workflows: async () => await withoutSecretsInTurns({ workflows: await workflows() }),
    async workflow(of) {
      const definition = await definitionOf(of);
      if (!definition) return undefined;
      const trusted = hasFiles ? { isTrusted: workspace.isTrusted(definition) } : {};
      return await withoutSecretsInTurns({ graph: createGraph(definition), ...trusted });
    },
    async dryRun(of, request) {
      const definition = await definitionOf(of);
      if (!definition) return undefined;
      return await withoutSecretsInTurns(await inTurns(dryRun(definition, request)));
    },
  };

  async function definitionOf(of: WorkflowName): Promise<Definition | undefined> {
    if ('run' in of) return (await load(of.run))?.definition;
    // A path would be a file of this machine.
    return /[/\\.]/.test(of.name) ? undefined : await workspace.workflow(of.name);
  }

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
