/** A function of `src` that was entered, or a process that one started. */
export interface Call {
  /** Relative to `src`. */
  file: string;
  name: string;
  parent: Call | undefined;
  /** Of a process that was started. */
  command?: string | undefined;
}

/** The calls of one process in the order of their entries, as its recorder writes them. */
export interface ProcessRecord {
  id: string;
  calls: {
    file: string;
    name: string;
    /** The index of its caller, or -1. */
    parent: number;
    command?: string | undefined;
    id?: string | undefined;
  }[];
}

export interface Scenario {
  name: string;
  /** The calls to which a chain is wanted. */
  leaves: Record<string, (call: Call) => boolean>;
  /** The first record is that of the process that was called. */
  record(): Promise<ProcessRecord[]>;
}

/** One list for all processes: what a started process calls comes right after its start, and is called by it. */
export function joinRecords([first, ...others]: readonly ProcessRecord[]): Call[] {
  const joined = (record: ProcessRecord, starter?: Call): Call[] => {
    const own: Call[] = [];
    return record.calls.flatMap(({ parent, id, ...rest }) => {
      const call = { ...rest, parent: own[parent] ?? starter };
      own.push(call);
      const started = others.find((other) => other.id === id);
      return started ? [call, ...joined(started, call)] : [call];
    });
  };
  return first ? joined(first) : [];
}

/** From the root to the call. */
export const chainTo = (call: Call): Call[] => [...(call.parent ? chainTo(call.parent) : []), call];

/** The top folder, or `.` for a file directly in `src`. */
export const folderOf = (file: string): string =>
  file.includes('/') ? file.slice(0, file.indexOf('/')) : '.';

/** Each file once, in the order of their first entries. */
export const walkOf = (calls: readonly Call[]): string[] => [...new Set(calls.map(({ file }) => file))];

/** Of files in order, those by which a folder is entered: one more than there are crossings. */
export const entriesOf = (files: readonly string[]): string[] =>
  files.filter((file, index) => index === 0 || folderOf(file) !== folderOf(files[index - 1] ?? ''));

/** Every ordered pair of folders that a call crossed, as `from -> to`, in the order of the first crossings. */
export function edgesOf(calls: readonly Call[]): string[] {
  const pairs = calls.map(({ file, parent }) => [folderOf((parent ?? { file }).file), folderOf(file)]);
  return [...new Set(pairs.filter(([from, to]) => from !== to).map((pair) => pair.join(' -> ')))];
}
