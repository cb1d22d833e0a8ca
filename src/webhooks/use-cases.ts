/** What an account can do about being told: endpoints, the messages sent to them, and when a wallet counts as low. */
import type { Principal } from '../domain/account.ts';
import type { Money } from '../domain/money.ts';
import type { ToldStatus, WebhookEvent } from './rules.ts';
import type { IdempotencyTag } from '../platform/idempotency/tag.ts';
import type { Page } from '../platform/composition/views.ts';

export const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export const DISABLED_REASONS = ['BY_OWNER', 'GONE', 'FAILING'] as const;

export interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  readonly disabledReason: (typeof DISABLED_REASONS)[number] | null;
  /** The first failure since the last success. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `secret` is told here and nowhere else. */
export interface EndpointWithSecret {
  readonly endpoint: EndpointView;
  readonly secret: string;
}

export interface MessageView {
  readonly id: string;
  readonly endpointId: string;
  readonly event: WebhookEvent;
  /** Null for events that are about no transaction. */
  readonly transactionId: string | null;
  readonly status: MessageStatus;
  readonly attempts: number;
  /** While PENDING: when it is tried next. */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

export interface MessageDetailView extends MessageView {
  /** As it is signed and sent, byte for byte. */
  readonly body: string;
}

export interface AttemptView {
  readonly attempt: number;
  readonly at: Date;
  readonly ms: number;
  /** `answered`, or why there was no whole answer. */
  readonly outcome: string;
  readonly status: number | null;
  /** The first kibibyte of the answer. */
  readonly answerStart: string;
}

export interface CreateEndpointCommand {
  readonly url: string;
  /** Absent: those that every endpoint gets. */
  readonly events?: readonly WebhookEvent[];
  readonly idempotency?: IdempotencyTag;
}

export interface EndpointChange {
  readonly url?: string;
  readonly events?: readonly WebhookEvent[];
  readonly enabled?: boolean;
}

export interface SampleCommand {
  readonly event: WebhookEvent;
  /** Of a purchase's event; SUCCESS unless told otherwise. */
  readonly status?: ToldStatus;
  readonly idempotency?: IdempotencyTag;
}

export interface RecoverCommand {
  readonly from: Date;
  /** Absent: until now. */
  readonly to?: Date;
  readonly idempotency?: IdempotencyTag;
}

export interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

export interface MessageQuery extends PageQuery {
  readonly endpointId?: string;
  readonly status?: MessageStatus;
  readonly event?: WebhookEvent;
  readonly transactionId?: string;
  /** Written at or after this, and before `to`. */
  readonly from?: Date;
  readonly to?: Date;
}

/** All throw WEBHOOK_ENDPOINT_NOT_FOUND or WEBHOOK_MESSAGE_NOT_FOUND for an id that is not the account's own. */
export interface WebhookUseCases {
  /** VALIDATION_ERROR where the URL may not be called, WEBHOOK_ENDPOINT_LIMIT. */
  createEndpoint(principal: Principal, command: CreateEndpointCommand): Promise<EndpointWithSecret>;
  listEndpoints(principal: Principal, query: PageQuery): Promise<Page<EndpointView>>;
  getEndpoint(principal: Principal, endpointId: string): Promise<EndpointView>;
  /** `enabled: true` also enables one again that had been disabled. VALIDATION_ERROR where the URL may not be called. */
  updateEndpoint(principal: Principal, endpointId: string, change: EndpointChange): Promise<EndpointView>;
  /** What was still to be sent there is not sent any more. */
  deleteEndpoint(principal: Principal, endpointId: string): Promise<void>;
  /** The secret before goes on signing beside the new one for a day. WEBHOOK_SECRET_LIMIT while too many do. */
  rotateEndpointSecret(
    principal: Principal,
    endpointId: string,
    idempotency: IdempotencyTag | undefined,
  ): Promise<EndpointWithSecret>;
  /** Sends a body of the real shape, also of an event the endpoint does not ask for. WEBHOOK_ENDPOINT_DISABLED. */
  sendSample(principal: Principal, endpointId: string, command: SampleCommand): Promise<MessageView>;
  /** Sends again, each once, what failed for good; answers how many. WEBHOOK_ENDPOINT_DISABLED, VALIDATION_ERROR (range). */
  recoverMessages(principal: Principal, endpointId: string, command: RecoverCommand): Promise<number>;
  listMessages(principal: Principal, query: MessageQuery): Promise<Page<MessageView>>;
  getMessage(principal: Principal, messageId: string): Promise<MessageDetailView>;
  listAttempts(principal: Principal, messageId: string, query: PageQuery): Promise<Page<AttemptView>>;
  /** Sends a message again under its own id, also one that was delivered. WEBHOOK_ENDPOINT_DISABLED. */
  resendMessage(
    principal: Principal,
    messageId: string,
    idempotency: IdempotencyTag | undefined,
  ): Promise<MessageView>;
  /** Null while nobody asked to be told. */
  getLowBalance(principal: Principal): Promise<Money | null>;
  setLowBalance(principal: Principal, thresholdMinor: bigint | null): Promise<Money | null>;
}
