/** The time, handed in so that tests can move it. */
export interface Clock {
  now(): Date;
}
