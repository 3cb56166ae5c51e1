/** A UUID by its first eight characters, as git shows a commit; `stepfast sessions` lists whole ids. */
export const shortSession = (session: string): string =>
  session.replace(/\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '$1');
