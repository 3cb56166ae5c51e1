/**
 * One forward-only step of the schema, in its own transaction. Released steps never change: a function whose arguments
 * or result change gets a new number in its name, so that servers of two versions can run side by side.
 */
export interface Migration {
  /** Ascending; ids from 100 belong to jobs. */
  id: number;
  name: string;
  sql: string;
  /** Privileges of the servers' role; applied again if the role is new, as after a restore. */
  grants?: string;
}
