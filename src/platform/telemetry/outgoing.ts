import { subscribe, unsubscribe } from 'node:diagnostics_channel';

export interface Vendor {
  readonly vendor: string;
  readonly environment: string;
}

/** Called at the end, with the answer's status, or undefined where none came. */
type End = (status: number | undefined) => void;

/** The part of undici's request that its channels document. */
interface OutgoingRequest {
  readonly origin: string | URL;
  readonly method: string;
}

interface RequestMessage {
  readonly request: OutgoingRequest;
  readonly response?: { readonly statusCode: number };
}

/**
 * Measures every call to a vendor through undici's diagnostics channels, without a change to the callers.
 * Vendors are known by host and port; other calls are ignored. `begins` is called in the async context of the
 * caller and returns what is called at the end. Returns what stops it.
 */
export function watchCalls(
  vendors: ReadonlyMap<string, Vendor>,
  begins: (call: Vendor & { readonly method: string }) => End,
): () => void {
  const open = new WeakMap<OutgoingRequest, { readonly end: End; status?: number }>();
  const created = ({ request }: RequestMessage): void => {
    const vendor = vendors.get(new URL(request.origin).host);
    if (vendor) open.set(request, { end: begins({ ...vendor, method: request.method }) });
  };
  const answered = ({ request, response }: RequestMessage): void => {
    const call = open.get(request);
    if (call && response) call.status = response.statusCode;
  };
  const ended = ({ request }: RequestMessage): void => {
    const call = open.get(request);
    open.delete(request);
    call?.end(call.status);
  };
  const listeners = {
    'undici:request:create': created,
    'undici:request:headers': answered,
    'undici:request:trailers': ended,
    'undici:request:error': ended,
  };
  const channels = Object.entries(listeners) as [string, (message: unknown) => void][];
  for (const [name, listener] of channels) subscribe(name, listener);
  return () => {
    for (const [name, listener] of channels) unsubscribe(name, listener);
  };
}
