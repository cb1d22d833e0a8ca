/** Passed in, so that tests can set the time. */
export interface Clock {
  now(): Date;
}
