export const total = (items) => items.reduce((sum, { price, count }) => sum + price * count, 0);
