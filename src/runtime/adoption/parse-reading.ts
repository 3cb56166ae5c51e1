import type { Line } from './markdown-lines.ts';

const mostKept = 50;
const longest = 300;

/** Paths with `@`: those that begin a line as they are, those inside a sentence or a code block where there is such a file. */
export function readingIn(lines: readonly Line[], exists: (path: string) => boolean): string[] {
  const found = lines.flatMap(({ text, fenced }) => {
    // Once for the line, and not tied to its end: a stranger's line must not be gone through again for each path.
    const begin = /^[\s>|*+\-\d.)]*(?:\[[ x]\]\s*)?[`*]*/i.exec(text)?.[0].length;
    return [...text.matchAll(/(?<=^|[\s("'`*[|,])@([^\s"'`<>()[\]|,;*]+)/g)].flatMap((match) => {
      const path = (match[1] ?? '').replace(/[.:!?]+$/, '').replace(/^\.\//, '');
      if (!isInner(path)) return [];
      const taken = (match.index === begin && !fenced && /[/\\]|\.\w{1,8}$/.test(path)) || exists(path);
      return taken ? [`@${path}`] : [];
    });
  });
  return [...new Set(found)].slice(0, mostKept);
}

/** A path of the project: not a home's, not absolute, not upwards. */
const isInner = (path: string): boolean =>
  path !== '' &&
  path.length <= longest &&
  !/^(?:[~/\\]|[a-z]:)/i.test(path) &&
  !path.split(/[/\\]/).includes('..');
