/**
 * The request and the purchase that the running code works for. Every log line gets their ids, without
 * handing them through functions.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Ids only, never a person, a key or an amount. */
export interface Subject {
  readonly requestId?: string | undefined;
  transactionId?: string | undefined;
}

/** What use cases get to know about the request that calls them. */
export interface RequestContext {
  readonly requestId: string;
}

const current = new AsyncLocalStorage<Subject>();

/** Everything that `work` starts belongs to this subject too. */
export function withSubject<T>(subject: Subject, work: () => T): T {
  return current.run(subject, work);
}

/** Adds the purchase to the current subject, once it is known. Does nothing outside of a subject. */
export function noteTransaction(transactionId: string): void {
  const subject = current.getStore();
  if (subject) subject.transactionId = transactionId;
}

/** Undefined outside of a request. */
export function currentRequestId(): string | undefined {
  return current.getStore()?.requestId;
}

/** Undefined outside of a subject. */
export function currentSubject(): Readonly<Subject> | undefined {
  return current.getStore();
}
