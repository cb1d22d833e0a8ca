import { useRef } from 'react';
import { Refusal } from '../api/client.ts';

interface Attempt<Body> {
  readonly key: string;
  readonly body?: Body;
}

const newAttempt = (): Attempt<never> => ({ key: crypto.randomUUID() });

/** One Idempotency-Key and body while the outcome is unknown. A refusal (4xx) ends them. */
export function useOnce<Body>() {
  const attempt = useRef<Attempt<Body>>(newAttempt());
  const renew = () => {
    attempt.current = newAttempt();
  };
  return {
    /** Call it when the form is about something else than before. */
    renew,
    send: async <Result>(
      next: Body,
      ask: (idempotencyKey: string, body: Body) => Promise<Result>,
    ): Promise<Result> => {
      const { key, body = next } = attempt.current;
      attempt.current = { key, body };
      try {
        return await ask(key, body);
      } catch (error) {
        if (isDecided(error)) renew();
        throw error;
      }
    },
  };
}

/** Whether the service refused it: anything else may have happened. */
export const isDecided = (error: unknown): boolean =>
  error instanceof Refusal &&
  error.status >= 400 &&
  error.status < 500 &&
  error.code !== 'IDEMPOTENCY_KEY_IN_USE';
