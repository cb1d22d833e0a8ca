// The body of any answer of the API, as tests read it.

/**
 * The fields of all answers together: each exists only if its route has it. A body that is no JSON object is
 * read as an empty one.
 */
export interface ApiBody {
  readonly success: boolean;
  readonly message: string;
  readonly statusCode: number;
  /** Next to the message in the top-up shape. */
  readonly code: string;
  readonly error: { readonly code: string; readonly message: string; readonly details: string };
  readonly transactionId: string;
  readonly status: string;
  readonly reason: string;
  readonly package: { readonly price: number; readonly currency: string; readonly currencyCode: string };
  readonly esimDetails: {
    readonly esimId: string;
    readonly iccid: string;
    readonly qrCodeUrl: string;
    readonly activationCode: string;
    readonly smdpAddress: string;
    readonly matchingId: string;
    readonly totalVolume: number;
    readonly dataRemaining: number;
  };
  readonly amount: number;
  readonly price: number;
  readonly currency: string;
  readonly paymentUrl: string;
  readonly gatewayReference: string;
  readonly trackingReference: string;
  readonly bankAccounts: readonly { readonly accountNumber: string; readonly expiryDate: string }[];
  readonly charge: { readonly amount: number; readonly currency: string };
  readonly timeline: readonly { readonly at: string; readonly what: string }[];
  readonly esimStatus: string;
  readonly replacedBy?: string;
  readonly activationCode: string;
  readonly installUrl: string;
  readonly totalVolume: number;
  readonly data: {
    /** Of a return. */
    readonly returnId: string;
    /** Of a replacement. */
    readonly replacementId: string;
    readonly replacedBy: string;
    readonly newTransactionId: string;
    readonly price: number;
    readonly fullPrice: number;
    readonly closedAt: string | null;
    readonly amount: number;
    readonly state: string;
    readonly pagination: { readonly totalItems: number };
    readonly balance: number;
    readonly currency: string;
    readonly rate: number;
    readonly batchId: string;
    readonly status: string;
    readonly completedAt: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly items: readonly unknown[];
  };
}
