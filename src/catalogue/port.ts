/** Where exchange rates come from. Each source is an adapter; which ones run is configuration. */
export interface RateObservation {
  readonly source: string;
  /** ISO 4217 → how much of it one US dollar is, as decimal text; never through floating point. */
  readonly ratesPerUsd: Readonly<Record<string, string>>;
  readonly observedAt: Date;
  /** Set by the operator, whose word needs no second source. */
  readonly setByOperator?: true;
}

export interface RateSource {
  readonly name: string;
  /** Throws when the provider cannot be reached or says something that is no rate. */
  observe(): Promise<RateObservation>;
}
