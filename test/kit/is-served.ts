/** Whether the suite runs against a team server; some rules hold only for files, or only for a clock of our own. */
export const isServed = process.env.STEPFAST_TEST_URL !== undefined;
