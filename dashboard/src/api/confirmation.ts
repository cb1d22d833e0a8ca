/** Whether a request waits for the password; a dialog asks for it (account/confirm-password.tsx). */
import { useSyncExternalStore } from 'react';

interface Waiting {
  readonly answered: Promise<boolean>;
  readonly answer: (isConfirmed: boolean) => void;
}

let waiting: Waiting | undefined;
const listeners = new Set<() => void>();

function setWaiting(next: Waiting | undefined): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** Requests that wait at the same time are answered together. False: the person gave no password. */
export function askForPassword(): Promise<boolean> {
  if (!waiting) {
    const { promise: answered, resolve: answer } = Promise.withResolvers<boolean>();
    setWaiting({ answered, answer });
  }
  return waiting?.answered ?? Promise.resolve(false);
}

export function answerConfirmation(isConfirmed: boolean): void {
  waiting?.answer(isConfirmed);
  setWaiting(undefined);
}

export const isPasswordAsked = (): boolean => waiting !== undefined;

export const usePasswordAsked = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, isPasswordAsked);
