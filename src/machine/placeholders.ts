const pattern = /\{\{([A-Za-z_][\w.-]*)\}\}|\{([A-Za-z_][\w.-]*)\}/g;

/** Placeholder names without parts, as a workflow may write them. */
export const plainPlaceholders = ['iteration', 'project_root', 'run_id', 'plan_id', 'summary'] as const;
/** The parts of `{task.…}`. */
export const taskPlaceholders = ['id', 'title', 'description'] as const;

export interface PlaceholderUse {
  name: string;
  /** Offset of the opening brace. */
  offset: number;
}

/** Every `{name}` in the text, in order; `{{name}}` means literal braces and is not a placeholder. */
export function findPlaceholders(text: string): PlaceholderUse[] {
  const uses: PlaceholderUse[] = [];
  for (const match of text.matchAll(pattern)) {
    if (match[2] !== undefined) uses.push({ name: match[2], offset: match.index });
  }
  return uses;
}

/** How many characters the values of one text may have together. Instructions and the largest input fit. */
export const maxExpanded = 400_000;

/** What is left for values; texts that are made together can share it. */
export interface Room {
  left: number;
}

/**
 * Values are not expanded again. A name that `lookup` does not know stays as it is, and so does one whose value does not
 * fit into the room: a text may name a large value thousands of times.
 */
export function expandPlaceholders(
  text: string,
  lookup: (name: string) => string | undefined,
  room: Room = { left: maxExpanded },
): string {
  const values = new Map<string, string | undefined>();
  return text.replaceAll(pattern, (whole, literal: string | undefined, name: string | undefined) => {
    if (name === undefined) return `{${literal}}`;
    if (!values.has(name)) values.set(name, lookup(name));
    const value = values.get(name);
    if (value === undefined || value.length > room.left) return whole;
    room.left -= value.length;
    return value;
  });
}
