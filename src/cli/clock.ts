/** Of the day, as a clock shows it. */
export const timeOf = (at: number): string => new Date(at).toTimeString().slice(0, 8);
