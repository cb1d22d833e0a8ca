/** Signing in at the dashboard, and what members manage. */
import { setTimeout as pause } from 'node:timers/promises';
import { createAuth, type Auth } from '../../accounts/auth.ts';
import { memberUseCases, type MemberDeps } from '../../accounts/members.ts';
import type { Passwords } from '../../accounts/passwords.ts';
import type { OperatorSessions } from '../../accounts/sessions.ts';
import {
  deleteEndedSignIns,
  MAX_MAILS_AN_HOUR,
  takeMailTurn,
  type MailKind,
} from '../../accounts/store/users.ts';
import { renderUserMail, type SandboxMail, type UserMail } from '../../accounts/user-mails.ts';
import type { Member } from '../../accounts/user-sessions.ts';
import { userUseCases } from '../../accounts/users.ts';
import type { Environment, Scope } from '../../domain/account.ts';
import { DAY_MS, type Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import { createCheckedKey, requireAllowed } from '../../webhooks/create-checked-key.ts';
import type { Mailer } from '../../webhooks/ports.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { AccountsDb, WorldDb } from '../database/tables.ts';
import type { Events } from '../telemetry/events.ts';
import { bindAll, type Bound } from './bind.ts';
import { composeMailer, type composeWebhooks } from './webhooks.ts';

interface NewKeyRequest {
  readonly companyName: string;
  readonly websiteUrl: string;
  readonly allowedAddresses: readonly string[];
  readonly webhookUrl?: string | undefined;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | undefined;
}

interface NewKey {
  readonly keyId: string;
  readonly apiKey: string;
  readonly expiresAt: string | null;
  readonly webhook: {
    readonly endpointId: string;
    readonly url: string;
    readonly secret?: string | undefined;
  } | null;
}

export interface UserUseCases {
  readonly auth: Bound<typeof userUseCases>;
  readonly account: Bound<typeof memberUseCases> & {
    /** Throws VALIDATION_ERROR for a website that does not answer, and for addresses inside private networks. */
    createKey(member: Member, environment: Environment, request: NewKeyRequest): Promise<NewKey>;
  };
}

type ForKeys = ReturnType<typeof composeWebhooks> & { readonly db: WorldDb };

interface Given {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly events: Events;
  readonly auth: Auth;
  readonly operators: OperatorSessions;
  /** Those that are switched on. */
  readonly worlds: ReadonlyMap<Environment, ForKeys>;
}

/** One for users and operators. */
export const composeAuth = (
  { config, secrets }: { readonly config: Config; readonly secrets: Secrets },
  {
    db,
    events,
    passwords,
  }: { readonly db: AccountsDb; readonly events: Events; readonly passwords: Passwords },
): Auth =>
  createAuth({
    db,
    passwords,
    secret: Buffer.from(secrets.idSecret),
    publicUrl: config.publicUrl,
    issuer: config.brand,
    onError: (detail) => events.signInFailed({ detail }),
  });

/** Both that answer a sign-up count together: which of them is sent must not show. */
const MAIL_KIND = {
  confirm: 'sign-up',
  known: 'sign-up',
  reset: 'reset',
  invitation: 'invitation',
} as const satisfies Record<UserMail['kind'], MailKind>;

export function composeUsers(
  { config, secrets }: { readonly config: Config; readonly secrets: Secrets },
  { db, clock, events, auth, operators, worlds }: Given,
) {
  const { publicUrl, brand } = config;
  const mails = createUserMails({
    mailer: composeMailer(secrets),
    publicUrl,
    showsMails: config.showsMails,
    events,
    mayBeMailed: (kind, address) => takeMailTurn(db, MAIL_KIND[kind], address, clock.now()),
  });
  const worldOf = (environment: Environment): ForKeys => {
    const world = worlds.get(environment);
    if (!world)
      throw new DomainError('ENVIRONMENT_UNAVAILABLE', 'The live environment is not available here');
    return world;
  };
  const memberDeps: MemberDeps = {
    db,
    clock,
    sendMail: mails.send,
    requireWebsite: async (environment, url) =>
      requireAllowed('websiteUrl', 'the website', await worldOf(environment).urlGuard.reach(url)),
  };
  const keys = bindAll(
    { db, clock, brand, lifeDays: config.apiKeyLifeDays, worldOf },
    { createKey: createMemberKey },
  );
  const useCases: UserUseCases = {
    auth: bindAll(
      {
        db,
        clock,
        auth,
        operators,
        publicUrl,
        environments: [...worlds.keys()],
        events,
        sendMail: mails.send,
      },
      userUseCases,
    ),
    account: { ...bindAll(memberDeps, memberUseCases), ...keys },
  };
  return {
    useCases,
    tidy: () => deleteEndedSignIns(db, clock.now()),
    /** Waits for mails under way. */
    close: mails.close,
  };
}

async function createMemberKey(
  deps: {
    readonly db: AccountsDb;
    readonly clock: Clock;
    readonly brand: string;
    readonly lifeDays: number | undefined;
    readonly worldOf: (environment: Environment) => ForKeys;
  },
  { account, email }: Member,
  environment: Environment,
  { expiresAt: wanted, ...request }: NewKeyRequest,
): Promise<NewKey> {
  const { db: accounts, clock, brand, lifeDays, worldOf } = deps;
  const now = clock.now();
  if (wanted && wanted <= now)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: 'expiresAt: must be in the future',
    });
  const expiresAt = wanted ?? (lifeDays === undefined ? null : new Date(now.getTime() + lifeDays * DAY_MS));
  const { webhookUrl, ...key } = request;
  const made = await createCheckedKey(
    { ...worldOf(environment), accounts, clock },
    {
      ...key,
      ...(webhookUrl === undefined ? {} : { webhookUrl }),
      accountId: account.id,
      environment,
      brand,
      expiresAt,
    },
    email,
  );
  const { webhook } = made;
  return {
    keyId: made.keyId,
    apiKey: made.apiKey,
    expiresAt: expiresAt?.toISOString() ?? null,
    webhook: webhook
      ? {
          endpointId: webhook.endpointId,
          url: webhook.url,
          secret: 'secret' in webhook ? webhook.secret : undefined,
        }
      : null,
  };
}

/** After the first try; then the user asks for another mail. */
const TRY_AGAIN_AFTER_MS = [2_000, 15_000];

/**
 * Mails to users hold a link that is worth a password, so they are in no table: they are sent at once, tried again for a few seconds, and otherwise
 * lost. The caller does not wait for it, so that an answer takes as long for an unknown address.
 */
function createUserMails({
  mailer,
  publicUrl,
  showsMails,
  events,
  mayBeMailed,
}: {
  readonly mailer: Mailer | undefined;
  readonly publicUrl: string;
  /** Without a mail server, mails are shown in answers: anyone who requests one can read it. */
  readonly showsMails: boolean;
  readonly events: Pick<Events, 'userMailNotSent'>;
  /** Counts a mail to this address; false: it has had enough of them. */
  readonly mayBeMailed: (kind: UserMail['kind'], address: string) => Promise<boolean>;
}) {
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const deliver = async (via: Mailer, kind: UserMail['kind'], mail: SandboxMail, requestId: string) => {
    const { to, subject, text } = mail;
    if (!(await mayBeMailed(kind, to).catch(() => false))) {
      const detail = `this address got ${MAX_MAILS_AN_HOUR} mails of this kind within an hour, or they cannot be counted`;
      events.userMailNotSent({ kind, requestId, detail });
      return;
    }
    for (const afterMs of [0, ...TRY_AGAIN_AFTER_MS]) {
      await pause(afterMs, undefined, { signal: closing.signal }).catch(() => undefined);
      const sent = await via.send({ id: `${kind}-${requestId}`, to, subject, text });
      if (sent.outcome === 'done') return;
      events.userMailNotSent({ kind, requestId, detail: sent.detail });
      if (sent.outcome === 'refused' || closing.signal.aborted) return;
    }
  };
  return {
    send: (mail: UserMail, requestId: string): SandboxMail | undefined => {
      const rendered = renderUserMail(mail, publicUrl);
      if (mailer) {
        const sending = deliver(mailer, mail.kind, rendered, requestId).finally(() =>
          underWay.delete(sending),
        );
        underWay.add(sending);
        return undefined;
      }
      if (showsMails) return rendered;
      events.userMailNotSent({ kind: mail.kind, requestId, detail: 'no mail server is set' });
      return undefined;
    },
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.all(underWay);
    },
  };
}
