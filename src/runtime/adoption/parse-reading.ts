import type { Line } from './markdown-lines.ts';

const mostKept = 50;
const longest = 300;

/** Paths with `@`. Inside a sentence or a code block, a path counts only if the file exists. */
export function readingIn(lines: readonly Line[], exists: (path: string) => boolean): string[] {
  const found = lines.flatMap(({ text, fenced }) => {
    // Matched once per line and not anchored to its end, so that untrusted lines cannot cause quadratic time.
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

/** A relative path that stays inside the project. */
const isInner = (path: string): boolean =>
  path !== '' &&
  path.length <= longest &&
  !/^(?:[~/\\]|[a-z]:)/i.test(path) &&
  !path.split(/[/\\]/).includes('..');
