/** Of a commit, or of files: `git:8a2f01c…` as `8a2f01c`. */
export const shortHash = (hash: string): string => hash.replace(/^\w+:/, '').slice(0, 7);
