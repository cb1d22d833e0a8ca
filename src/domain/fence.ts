/**
 * The end of the time in which an effect may be sent. Begin it before its row is written: then it is over no
 * later than the row's `send_before`.
 */
export interface Fence {
  readonly isOver: () => boolean;
}
