import { randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Lets a browser in. A link works once, because other programs of the same user can read it from the list of
 * processes; the cookie that replaces it is only in the browser.
 */
export interface OneTimeLinks {
  create(): string;
  /** The value of the cookie, if the link is new. */
  use(token: string): string | undefined;
  hasCookie(value: string | undefined): boolean;
}

const maxOpen = 20;

export function createOneTimeLinks(): OneTimeLinks {
  let links: string[] = [];
  const cookies: string[] = [];
  return {
    create() {
      const token = secret();
      links = [...links, token].slice(-maxOpen);
      return token;
    },
    use(token) {
      const link = links.find((each) => isSame(each, token));
      if (link === undefined) return undefined;
      links = links.filter((each) => each !== link);
      const cookie = secret();
      cookies.push(cookie);
      return cookie;
    },
    hasCookie: (value) => value !== undefined && cookies.some((each) => isSame(each, value)),
  };
}

const secret = (): string => randomBytes(32).toString('base64url');

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
