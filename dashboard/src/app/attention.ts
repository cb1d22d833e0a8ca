/** Without a reader, polling and refetching wait: every request restarts the idle time of the session. */
import { isSessionEnded, onSessionEnded } from './session.ts';

/** Long enough to read a page, short enough that the session soon begins its 30 idle minutes. */
export const UNATTENDED_AFTER_MS = 5 * 60_000;

const SIGNS_OF_A_READER = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart', 'focus'] as const;

/** `setAttended` gets `undefined` when the watch ends. Returns what ends it. */
export function watchAttention(
  page: EventTarget & { readonly visibilityState: string },
  view: EventTarget,
  setAttended: (isAttended: boolean | undefined) => void,
): () => void {
  let isAttended = true;
  let timer: ReturnType<typeof setTimeout>;
  const update = () => setAttended(page.visibilityState !== 'hidden' && isAttended && !isSessionEnded());
  const leave = () => {
    isAttended = false;
    update();
  };
  const attend = () => {
    clearTimeout(timer);
    timer = setTimeout(leave, UNATTENDED_AFTER_MS);
    isAttended = true;
    update();
  };
  attend();
  for (const sign of SIGNS_OF_A_READER) view.addEventListener(sign, attend, { capture: true, passive: true });
  page.addEventListener('visibilitychange', update);
  const forget = onSessionEnded(update);
  return () => {
    clearTimeout(timer);
    for (const sign of SIGNS_OF_A_READER) view.removeEventListener(sign, attend, { capture: true });
    page.removeEventListener('visibilitychange', update);
    forget();
    setAttended(undefined);
  };
}
