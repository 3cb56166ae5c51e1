/** Matches a path that equals a pattern, is below it, or matches it as a glob: `*`, `?`, `**`. */
export function createMatcher(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.filter((pattern) => /[*?]/.test(pattern)).map(globExpression);
  return (path) =>
    patterns.some((pattern) => pattern === '' || path === pattern || path.startsWith(`${pattern}/`)) ||
    globs.some((glob) => glob.test(path));
}

function globExpression(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|[*?]|[.+^${}()|[\]\\]/g, (part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    return `\\${part}`;
  });
  return new RegExp(`^${source}$`, 's');
}
