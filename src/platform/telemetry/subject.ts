/**
 * What the code at hand is working for: a request, a purchase, or both. Every log line written meanwhile says so, whoever writes it, and no
 * function has to hand ids through for the log's sake. Holds ids only, never a person, a key or an amount.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Subject {
  readonly requestId?: string | undefined;
  transactionId?: string | undefined;
}

const current = new AsyncLocalStorage<Subject>();

/** Runs `work`, and all that it starts, about this subject. */
export function withSubject<T>(subject: Subject, work: () => T): T {
  return current.run(subject, work);
}

/** Tells what purchase a request turned out to be about. Outside of a subject it changes nothing. */
export function noteTransaction(transactionId: string): void {
  const subject = current.getStore();
  if (subject) subject.transactionId = transactionId;
}

/** Of the request that the code at hand works for; undefined for chores. */
export function currentRequestId(): string | undefined {
  return current.getStore()?.requestId;
}

/** A line's own fields win over what it is about. */
export function subjectOf(fields: object): object {
  const subject = current.getStore();
  return subject ? { ...subject, ...fields } : fields;
}

/** What every verb is told about the request that asks for it. */
export interface RequestContext {
  readonly requestId: string;
}
