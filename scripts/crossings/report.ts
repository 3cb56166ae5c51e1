import { type Call, chainTo, edgesOf, entriesOf, folderOf, walkOf } from './calls.ts';

/** The tables for a reader, and the figures for a program. */
export interface Report {
  text: string;
  figures: {
    /** The longest of the chains: the file by which each folder is entered. */
    chain: string[];
    /** Along all chains together. */
    crossings: number;
    chains: Record<string, number>;
    /** Distinct pairs of folders with a call from one to the other. */
    pairs: number;
    walk: { files: number; changes: number };
  };
}

/** Throws where nothing of what a chain is wanted to was called. */
export function reportOn(calls: readonly Call[], leaves: Record<string, (call: Call) => boolean>): Report {
  const chains = Object.entries(leaves).map(([name, isLeaf]) => {
    const leaf = calls.find(isLeaf);
    if (!leaf) throw new Error(`nothing that was called is the ${name}`);
    return { name, entries: entriesOf(chainTo(leaf).map(({ file }) => file)) };
  });
  const edges = edgesOf(calls);
  const walk = walkOf(calls);
  const changes = entriesOf(walk).length - 1;
  const text = [
    ...chains.map(
      ({ name, entries }) => `chain to ${name}: ${entries.length - 1} crossings\n  ${entries.join(' -> ')}`,
    ),
    `folders that call another one: ${edges.length} pairs\n${edges.map((edge) => `  ${edge}`).join('\n')}`,
    `walk: ${walk.length} files, ${changes} changes of folder\n${walk.map((file) => `  ${folderOf(file).padEnd(12)}${file}`).join('\n')}`,
  ].join('\n\n');
  const [longest] = chains.map(({ entries }) => entries).sort((a, b) => b.length - a.length);
  return {
    text,
    figures: {
      chain: longest ?? [],
      crossings: chains.reduce((sum, { entries }) => sum + entries.length - 1, 0),
      chains: Object.fromEntries(chains.map(({ name, entries }) => [name, entries.length - 1])),
      pairs: edges.length,
      walk: { files: walk.length, changes },
    },
  };
}
