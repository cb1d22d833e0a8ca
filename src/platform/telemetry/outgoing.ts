/**
 * Sees every call to a vendor, by the channels on which Node tells of its own HTTP client: how long the answer's head took and what it was.
 * Changes nothing about a call and knows vendors by their address alone; calls to anybody else are not looked at.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';

export interface Vendor {
  readonly vendor: string;
  readonly environment: string;
}

/** Told of the end: the answer's status, or undefined where none came. */
type End = (status: number | undefined) => void;

/** `begins` is told of each call in the place it is made from, and answers with whoever is told of its end. Returns what stops the watch. */
export function watchCalls(
  vendors: ReadonlyMap<string, Vendor>,
  begins: (call: Vendor & { readonly method: string }) => End,
): () => void {
  const open = new WeakMap<ClientRequest, End>();
  const created = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest };
    const vendor = vendors.get(String(request.getHeader('host')));
    if (vendor) open.set(request, begins({ ...vendor, method: request.method }));
  };
  const ended = (message: unknown): void => {
    const { request, response } = message as {
      readonly request: ClientRequest;
      readonly response?: IncomingMessage;
    };
    open.get(request)?.(response?.statusCode);
    open.delete(request);
  };
  const channels = [
    ['http.client.request.created', created],
    ['http.client.response.finish', ended],
    ['http.client.request.error', ended],
  ] as const;
  for (const [name, listener] of channels) subscribe(name, listener);
  return () => {
    for (const [name, listener] of channels) unsubscribe(name, listener);
  };
}
