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

/** Values are not expanded again. A name that `lookup` does not know stays as it is. */
export function expandPlaceholders(text: string, lookup: (name: string) => string | undefined): string {
  return text.replaceAll(pattern, (whole, literal: string | undefined, name: string | undefined) =>
    name === undefined ? `{${literal}}` : (lookup(name) ?? whole),
  );
}
