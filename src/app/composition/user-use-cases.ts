/** Signing in at the dashboard, and what members manage. */
import { createAuth } from '../../accounts/users/better-auth.ts';
import { memberUseCases, type MemberCases, type MemberDeps } from '../../accounts/members.ts';
import type { Passwords } from '../../accounts/users/passwords.ts';
import type { UserDeps } from '../../accounts/users/better-auth-calls.ts';
import { deleteEndedSignIns } from '../../accounts/store/users.ts';
import { nameOfBrand } from '../../accounts/sender-name.ts';
import { sendNotices } from '../../accounts/users/send-notices.ts';
import { createUserMails } from '../../accounts/users/mails.ts';
import { userUseCases, type UserCases } from '../../accounts/users/users.ts';
import type { Environment } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import { createMemberKey, requireAllowed } from '../../webhooks/create-checked-key.ts';
import { endEndpointsBy } from '../../webhooks/endpoint-changes.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { AccountsDb, WorldDb } from '../../platform/database/tables.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { bindAll, type Bound } from '../../platform/bind.ts';
import { startPoller, type Poller } from '../../platform/poller.ts';
import { composeMailer, composeMailStops, type composeWebhooks } from './webhooks.ts';

const NOTICES_EVERY_MS = 5_000;

const memberKeyUseCases = { createKey: createMemberKey };

export interface UserUseCases {
  readonly auth: UserCases;
  readonly account: MemberCases & Bound<typeof memberKeyUseCases>;
}

type ForKeys = ReturnType<typeof composeWebhooks> & { readonly db: WorldDb };

interface UsersDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly events: Events;
  readonly passwords: Passwords;
  /** Those that are switched on. */
  readonly worlds: ReadonlyMap<Environment, ForKeys>;
}

export function composeUsers(
  { config, secrets }: { readonly config: Config; readonly secrets: Secrets },
  { db, clock, events, passwords, worlds }: UsersDeps,
) {
  const { publicUrl, brand, showsMails, apiKeyLifeDays: lifeDays } = config;
  const mailStops = composeMailStops({ config, secrets });
  const mailer = composeMailer(secrets);
  const words = { publicUrl, us: nameOfBrand(brand) };
  const mails = createUserMails({ db, clock, events, mailStops, showsMails, mailer, words });
  const pollers: Poller[] = [];
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
    sendsTravellerEmails: secrets.mail !== undefined,
    endEndpoints: endEndpointsBy,
    requireWebsite: async (environment, url) =>
      requireAllowed('websiteUrl', 'the website', await worldOf(environment).urlGuard.reach(url)),
  };
  const auth = createAuth({
    db,
    clock,
    passwords,
    secret: Buffer.from(secrets.idSecret),
    publicUrl,
    issuer: brand,
    onError: (detail) => events.signInFailed({ detail }),
  });
  const environments = [...worlds.keys()];
  const deps: UserDeps = {
    db,
    clock,
    auth,
    publicUrl,
    environments,
    events,
    mailStops,
    sendMail: mails.send,
    sendMailLater: mails.sendLater,
  };
  const useCases: UserUseCases = {
    auth: bindAll(deps, userUseCases),
    account: {
      ...bindAll(memberDeps, memberUseCases),
      ...bindAll({ accounts: db, clock, brand, lifeDays, worldOf }, memberKeyUseCases),
    },
  };
  return {
    useCases,
    /** For operators' sessions, which are the same. */
    deps,
    tidy: () => deleteEndedSignIns(db, clock.now()),
    /** Without a mail server, notices wait until they are too old. */
    start: () => {
      if (mailer) pollers.push(pollNotices({ db, mailer, words, events }));
    },
    /** Waits for mails under way. */
    close: async () => {
      await Promise.all([mails.close(), ...pollers.map((poller) => poller.stop())]);
    },
  };
}

const pollNotices = (deps: Parameters<typeof sendNotices>[0]): Poller =>
  startPoller(
    () => sendNotices(deps),
    NOTICES_EVERY_MS,
    (error) => deps.events.userMailNotSent({ kind: 'notice', requestId: '', detail: String(error) }),
  );
