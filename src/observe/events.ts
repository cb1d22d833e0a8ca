/**
 * One function per business event: what happened, once as a log line with its ids. Rooms call these instead of writing log lines, so
 * the words stay the same everywhere. No key, secret, activation code, PIN or PUK ever comes in here.
 */
export interface EventLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Events {
  purchaseAnswered(fields: {
    transactionId: string;
    requestId: string;
    answer: string;
    reason?: string;
    ms: number;
  }): void;
  purchaseDelivered(fields: { transactionId: string }): void;
  purchaseFailed(fields: { transactionId: string; reason: string; detail: string }): void;
  purchaseNeedsAttention(fields: { transactionId: string; reason: string }): void;
  settleFailed(fields: { transactionId: string; detail: string }): void;
  supplierRefused(fields: { transactionId: string; reason: string; detail: string }): void;
  supplierStateUnseen(fields: { esimId: string; supplierStatus: string }): void;
  esimLookFailed(fields: { esimId: string; detail: string }): void;
  gatewayRefused(fields: { reference: string; reason: string; detail: string }): void;
  gatewayLookFailed(fields: { reference: string; detail: string }): void;
  gatewayStatusUnseen(fields: { reference: string; gatewayStatus: string }): void;
  gatewayEventKept(fields: { type: string; reference: string | null }): void;
  gatewayEventRefused(fields: { bytes: number }): void;
  paymentBooked(fields: { transactionId: string; reference: string; what: string }): void;
  refundRefused(fields: { refundKey: string; reason: string; detail: string }): void;
  refundEnded(fields: { refundKey: string; end: string }): void;
  catalogueSynced(fields: {
    regions: number;
    packages: number;
    added: number;
    changed: number;
    repriced: number;
    withdrawn: number;
    ms: number;
  }): void;
  catalogueSyncRefused(fields: { reason: string }): void;
  rateQuarantined(fields: { currency: string; source: string }): void;
  rateSourceFailed(fields: { source: string; detail: string }): void;
  memoryNotRefreshed(fields: { what: string; detail: string }): void;
}

export function createEvents(log: EventLog): Events {
  return {
    purchaseAnswered: (fields) => log.info(fields, 'purchase answered'),
    purchaseDelivered: (fields) => log.info(fields, 'purchase delivered'),
    purchaseFailed: (fields) => log.warn(fields, 'purchase failed, money given back'),
    purchaseNeedsAttention: (fields) => log.error(fields, 'purchase needs attention'),
    settleFailed: (fields) => log.error(fields, 'delivered, but not settled'),
    supplierRefused: (fields) => log.warn(fields, 'supplier refused'),
    supplierStateUnseen: (fields) => log.error(fields, 'supplier state never seen before, nothing changed'),
    esimLookFailed: (fields) => log.warn(fields, 'eSIM could not be looked up, serving what is known'),
    gatewayRefused: (fields) => log.warn(fields, 'gateway refused'),
    gatewayLookFailed: (fields) => log.warn(fields, 'gateway could not be asked'),
    gatewayStatusUnseen: (fields) => log.error(fields, 'gateway status never seen before, nothing changed'),
    gatewayEventKept: (fields) => log.info(fields, 'gateway event kept'),
    gatewayEventRefused: (fields) => log.warn(fields, 'gateway event refused: not certainly its word'),
    paymentBooked: (fields) => log.info(fields, 'payment booked'),
    refundRefused: (fields) => log.warn(fields, 'gateway refused a refund'),
    refundEnded: (fields) => log.info(fields, 'refund ended'),
    catalogueSynced: (fields) => log.info(fields, 'catalogue synced'),
    catalogueSyncRefused: (fields) => log.error(fields, 'catalogue sync refused'),
    rateQuarantined: (fields) => log.error(fields, 'exchange rate quarantined'),
    rateSourceFailed: (fields) => log.warn(fields, 'exchange rate source failed'),
    memoryNotRefreshed: (fields) => log.warn(fields, 'could not refresh memory, serving what is known'),
  };
}
