/** `a, b, c and 2 more`. */
export const listed = (items: readonly string[], separator = ', ', most = 5): string =>
  items.length <= most
    ? items.join(separator)
    : `${items.slice(0, most).join(separator)} and ${items.length - most} more`;
