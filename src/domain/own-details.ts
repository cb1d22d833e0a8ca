/**
 * What callers say for themselves about a purchase or a funding: their reference and metadata, which we give
 * back wherever it is shown, and who pays at a gateway and where they go back to.
 */
export type Metadata = Readonly<Record<string, string>>;

export interface OwnDetails {
  readonly reference?: string | undefined;
  /** Refused where another purchase or funding of the account carries the reference. */
  readonly uniqueReference?: boolean | undefined;
  readonly metadata?: Metadata | undefined;
  /** Of the buyer. Personal data: in no log and no webhook, and in no workflow in clear. */
  readonly customerEmail?: string | undefined;
  readonly successUrl?: string | undefined;
  readonly cancelUrl?: string | undefined;
}
