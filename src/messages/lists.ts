const mostListed = 5;

/** `a, b, c and 2 more`. */
export const listed = (items: readonly string[], separator = ', ', most = mostListed): string =>
  items.length <= most
    ? items.join(separator)
    : `${items.slice(0, most).join(separator)} and ${items.length - most} more`;

export const quoted = (items: readonly string[]): string => items.map((item) => `'${item}'`).join(', ');
