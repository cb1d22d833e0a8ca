/** What happened when, for answers that tell how something came to stand as it does. Pure. */
import type { PurchaseView } from '../../purchases/views.ts';

export function presentTimeline(
  timeline: PurchaseView['timeline'],
): readonly { readonly at: string; readonly what: string }[] {
  return timeline.map(({ at, what }) => ({ at: at.toISOString(), what }));
}
