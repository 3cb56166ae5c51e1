import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { noRun } from '../../engine/index.ts';
import { StepfastError } from '../../errors.ts';
import { ended, type State, suffixOf } from '../../machine/index.ts';
import {
  compareHistories,
  createFileTransfer,
  encodeHistory,
  type HistoryRelation,
  type RunHistory,
  type TextsByDigest,
} from '../../store/index.ts';
import {
  ignoreRuns,
  machineId,
  type Project,
  stateDirectory,
  type UserEnvironment,
} from '../../workspace/index.ts';
import { digestsIn, statesOf } from './check-run.ts';
import { type Fork, forkOf, type Side, sideOf } from './find-fork.ts';
import { type OutgoingData, type Secret, type SecretScan, secretScan, secretsIn } from './find-secrets.ts';
import { createGit, type Git } from './git.ts';
import { openRemote, type Remote } from './git-remote.ts';
import { type RunTree, readCommit, writeCommit } from './run-tree.ts';
import { type UncommittedFiles, uncommittedFiles } from './uncommitted-files.ts';
import { type VerifiedRun, verifyRun } from './verify-run.ts';

/** What a push would do. */
export interface Outgoing {
  run: string;
  /** `chosen`: both changed, and a person chose the local one. */
  is: HistoryRelation | 'new' | 'chosen';
  /** Batches of the run; `further`: those not there yet. */
  batches: number;
  further: number;
  texts: number;
  bytes: number;
  last: Side;
  secrets: Secret[];
  uncommitted: UncommittedFiles;
  fork?: Fork;
  /** `send` puts it after `old`. */
  tree: RunTree;
  old: string | undefined;
}

/** What a pull would do with one run. */
export type Incoming = { run: string } & ({ is: 'bad'; error: StepfastError } | IncomingHistory);

export interface IncomingHistory {
  is: HistoryRelation | 'new';
  theirs: VerifiedRun;
  commit: string;
  /** Batches that only one side has. */
  here: number;
  there: number;
  last: Side;
  fork?: Fork;
  /** Both changed, and a person chose the local one. */
  chosen: boolean;
  /** The hash of the last batch here. */
  tail?: string;
}

/** Transfers runs over the user's git remote. Throws StepfastError. */
export interface Transfer {
  remote(name: string): Promise<Remote>;
  /** Compares the run with that of the remote; sends nothing. */
  prepare(run: string, remote: Remote): Promise<Outgoing>;
  /** `moved`: another push came first, nothing was sent. */
  send(outgoing: Outgoing, remote: Remote): Promise<'sent' | 'moved'>;
  /** Fetches and verifies; changes no local run. */
  inspect(runs: readonly string[], remote: Remote): Promise<Incoming[]>;
  /** Creates or extends the local run. Throws `run_exists` if another run here has the same suffix. */
  receive(run: IncomingHistory): Promise<void>;
  /** Replaces the local history with theirs; returns the backup file of the old one. */
  keepTheirs(run: IncomingHistory): Promise<string>;
  /** Lets the next push supersede their history. */
  keepMine(run: IncomingHistory): Promise<void>;
}

interface TransferOptions extends UserEnvironment {
  project: Project;
  /** All runs here. */
  ids(): Promise<readonly string[]>;
  scan?: SecretScan;
  git?: Git;
}

export function createTransfer({ project, ids, scan = secretScan, ...options }: TransferOptions): Transfer {
  const git = options.git ?? createGit(project.worktree, options.env ?? process.env);
  const here = createFileTransfer({
    directory: join(project.directory, 'runs'),
    machine: machineId(stateDirectory(options)),
    nonce: () => randomBytes(6).toString('hex'),
  });

  async function prepare(run: string, remote: Remote): Promise<Outgoing> {
    const mine = await history(run);
    if (!mine) throw noRun(run);
    const there = (await remote.runs()).ids.includes(run);
    const old = there ? await fetched(run, remote) : undefined;
    const theirs = old === undefined ? undefined : await verified(run, old, remote);
    const { relation, common } = compareHistories(mine.lines, theirs?.lines ?? []);
    const apart = relation === 'diverged' || relation === 'foreign';
    const chosen = theirs && apart && old === (await asideOf(theirs));
    const texts = await here.texts(run, digestsIn(mine.lines.map(({ events }) => events)));
    const sending = {
      lines: mine.lines.slice(common),
      texts: new Map([...texts].filter(([digest]) => !theirs?.texts.has(digest))),
      ...(theirs ? {} : { definition: mine.pinned.definition }),
    } satisfies OutgoingData;
    const tree: RunTree = {
      journal: encodeHistory(mine.lines),
      workflow: Buffer.from(`${JSON.stringify(mine.pinned, null, 2)}\n`),
      texts,
    };
    return {
      run,
      is: theirs ? (chosen ? 'chosen' : relation) : 'new',
      batches: mine.lines.length,
      further: sending.lines.length,
      texts: sending.texts.size,
      bytes: bytesOf(sending) + (theirs ? 0 : tree.workflow.length),
      last: sideOf(mine, common),
      secrets: await secretsIn(sending, scan),
      uncommitted: await uncommittedFiles(git, project, {
        definition: mine.pinned.definition,
        state: mine.state,
      }),
      ...(theirs && common < theirs.lines.length ? { fork: forkOf(mine, theirs, common) } : {}),
      tree,
      old,
    };
  }

  async function send(
    { run, tree, old, batches, last }: Outgoing,
    remote: Remote,
  ): Promise<'sent' | 'moved'> {
    const message = `Stepfast run ${run}, batch ${batches}\n\nproject: ${await folder()}\n`;
    const commit = await writeCommit(git, tree, { message, parent: old, now: last.now });
    return await remote.push(run, commit, old);
  }

  async function inspect(runs: readonly string[], remote: Remote): Promise<Incoming[]> {
    const commits = await remote.fetch(runs);
    const found: Incoming[] = [];
    for (const run of runs) {
      try {
        const commit = commits.get(run);
        if (commit === undefined) continue;
        if (commit instanceof StepfastError) throw commit;
        found.push({ run, ...(await compared(run, commit, remote)) });
      } catch (error) {
        if (!(error instanceof StepfastError)) throw error;
        found.push({ run, is: 'bad', error });
      }
    }
    return found;
  }

  async function compared(run: string, commit: string, remote: Remote): Promise<IncomingHistory> {
    await refuseOtherProject(run, commit);
    const theirs = await verified(run, commit, remote);
    const mine = await history(run);
    const { relation, common } = compareHistories(mine?.lines ?? [], theirs.lines);
    const tail = mine?.lines.at(-1)?.hash;
    const apart = mine && (relation === 'diverged' || relation === 'foreign');
    return {
      is: mine ? relation : 'new',
      theirs,
      commit,
      here: (mine?.lines.length ?? 0) - common,
      there: theirs.lines.length - common,
      last: sideOf(theirs, common),
      ...(apart ? { fork: forkOf(mine, theirs, common) } : {}),
      chosen: apart === true && commit === (await asideOf(theirs)),
      ...(tail === undefined ? {} : { tail }),
    };
  }

  async function history(run: string): Promise<(RunHistory & { state: State }) | undefined> {
    const mine = await here.read(run);
    const state = mine && statesOf(run, mine.pinned.definition, mine.lines).at(-1);
    return mine && state && { ...mine, state };
  }

  async function fetched(run: string, remote: Remote): Promise<string | undefined> {
    const commit = (await remote.fetch([run])).get(run);
    if (commit instanceof StepfastError) throw commit;
    return commit;
  }

  async function verified(run: string, commit: string, remote: Remote): Promise<VerifiedRun> {
    try {
      return verifyRun(run, await readCommit(git, commit));
    } catch (error) {
      if (!(error instanceof StepfastError) || error.code !== 'bad_history') throw error;
      const message = `what the remote '${remote.name}' has of ${run} was not taken: ${error.message}`;
      throw new StepfastError('bad_history', message, { cause: error });
    }
  }

  /** The project in its repository, which may have several. */
  async function folder(): Promise<string> {
    const found = await git(['rev-parse', '--show-prefix']);
    return found.stdout.toString('utf8').trim().replace(/\/$/, '') || '.';
  }

  /** Its paths would name other files. */
  async function refuseOtherProject(run: string, commit: string): Promise<void> {
    const said = await git(['cat-file', 'commit', commit], { maxBytes: 65_536 });
    const theirs = /^project: (.+)$/m.exec(said.stdout.toString('utf8'))?.[1];
    if (theirs === undefined || theirs === (await folder())) return;
    const message = `${run} belongs to the project in '${theirs.slice(0, 200)}' of this repository: pull it there`;
    throw new StepfastError('other_project', message);
  }

  /** Handles name a run by its suffix. */
  async function refuseClash(run: string): Promise<void> {
    const other = (await ids()).find((id) => id !== run && suffixOf(id) === suffixOf(run));
    if (other === undefined) return;
    const message = `The run ${other} is here already and has the same suffix as ${run}. Nothing was taken in.`;
    throw new StepfastError('run_exists', message);
  }

  const asideRef = ({ run, lines }: RunHistory): string =>
    `refs/stepfast/aside/${run}/${lines.at(-1)?.hash.slice(0, 8)}`;

  async function asideOf(theirs: RunHistory): Promise<string | undefined> {
    const found = await git(['rev-parse', '--verify', '--quiet', asideRef(theirs)]);
    return found.code === 0 ? found.stdout.toString('latin1').trim() : undefined;
  }

  return {
    remote: (name) => openRemote(git, project, name),
    prepare,
    send,
    inspect,
    async receive({ theirs }) {
      await refuseClash(theirs.run);
      ignoreRuns(project);
      await here.receive(theirs, theirs.texts);
    },
    keepTheirs: ({ theirs, tail = '' }) => here.replace(theirs, theirs.texts, tail),
    async keepMine({ theirs, commit }) {
      const done = await git(['update-ref', asideRef(theirs), commit]);
      if (done.code === 0) return;
      throw new StepfastError('git_failed', `git did not note the choice: ${done.stderr.trim()}`);
    },
  };
}

/** A pull without names takes runs that exist here or are live, and none of another project. */
export const isPulledByDefault = (incoming: Incoming): boolean =>
  incoming.is === 'bad'
    ? incoming.error.code !== 'other_project'
    : incoming.is !== 'new' || !ended(incoming.theirs.state);

const bytesOf = ({
  lines,
  texts,
}: {
  lines: readonly { bytes: Uint8Array }[];
  texts: TextsByDigest;
}): number =>
  [...lines.map(({ bytes }) => bytes), ...texts.values()].reduce((sum, bytes) => sum + bytes.length + 1, 0);
