/** What every verb is told about the request that asks for it. */
export interface RequestContext {
  readonly requestId: string;
}
