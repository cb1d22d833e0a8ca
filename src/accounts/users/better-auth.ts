/** better-auth on our tables. Its own HTTP handler is not mounted (docs/decisions/0060-dashboard.md). */
import { AsyncLocalStorage } from 'node:async_hooks';
import { hkdfSync, randomBytes, randomInt } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { twoFactor } from 'better-auth/plugins';
import type { Clock } from '../../domain/clock.ts';
import { makeId } from '../../domain/ids.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { findPerson } from '../store/people.ts';
import { admitSignIn, unlockUser } from '../store/users.ts';
import { MIN_PASSWORD_CHARACTERS } from './common-passwords.ts';
import type { UserMail } from './mails.ts';
import type { Passwords } from './passwords.ts';
import { cookieNames, SECOND_STEP_MS, SESSION_IDLE_MS } from './sessions.ts';

export interface AuthOptions {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly passwords: Passwords;
  /** Key material: signs cookies and links, encrypts second factors. The same in every process. */
  readonly secret: Buffer;
  /** Where browsers reach the service. */
  readonly publicUrl: string;
  /** Shown by authenticator apps. */
  readonly issuer: string;
  readonly onError: (message: string) => void;
}

export type Auth = ReturnType<typeof createAuth>;

const RESET_MS = 3_600_000;
/** Each request restarts the idle time; it is written at most so often. */
const IDLE_WRITTEN_EVERY_MS = 60_000;
const SECRET_BYTES = 32;
/** Hands over the address of a request; no browser can send it, since its own headers are not. */
export const ADDRESS_HEADER = 'x-simway-client-address';

/** Hands over the words for the browser, in the same way. */
export const DEVICE_HEADER = 'x-simway-device';

/** Mails that a call wants sent: the caller sends them, or shows them in the sandbox. */
const outbox = new AsyncLocalStorage<UserMail[]>();

export async function collectMails<T>(work: () => Promise<T>): Promise<{ result: T; mails: UserMail[] }> {
  const mails: UserMail[] = [];
  return { result: await outbox.run(mails, work), mails };
}

function put(mail: UserMail): Promise<void> {
  outbox.getStore()?.push(mail);
  return Promise.resolve();
}

/** better-auth's names of fields, with those of our columns. */
const inColumns = <Field extends string>(...fields: readonly Field[]) =>
  Object.fromEntries(
    fields.map((field) => [field, field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
  ) as Record<Field, string>;

const CREATED = ['createdAt', 'updatedAt'] as const;

/** Its tables under our names. */
const TABLES = {
  user: { modelName: 'users', fields: inColumns(...CREATED, 'emailVerified') },
  session: {
    modelName: 'user_sessions',
    fields: inColumns(...CREATED, 'userId', 'expiresAt', 'ipAddress', 'userAgent'),
    expiresIn: SESSION_IDLE_MS / 1_000,
    updateAge: IDLE_WRITTEN_EVERY_MS / 1_000,
    additionalFields: {
      confirmedAt: { type: 'date', fieldName: 'confirmed_at', input: false, required: false },
      device: { type: 'string', fieldName: 'device', input: false, required: false },
    },
  },
  account: {
    modelName: 'user_credentials',
    fields: {
      ...inColumns('accountId', 'providerId', 'userId', 'accessToken', 'refreshToken', 'idToken'),
      ...inColumns(...CREATED, 'accessTokenExpiresAt', 'refreshTokenExpiresAt'),
    },
  },
  verification: {
    modelName: 'user_verifications',
    fields: inColumns(...CREATED, 'expiresAt'),
    storeIdentifier: 'hashed',
  },
} as const;

const SECOND_FACTOR_TABLES = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'user_second_factors',
    fields: inColumns('userId', 'backupCodes', 'failedVerificationCount', 'lockedUntil'),
  },
} as const;

const RECOVERY_CODES = 10;
/** Nothing that is mistaken for another letter or digit. */
const RECOVERY_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

/** In small letters, since they are taken in any. */
function recoveryCodes(): string[] {
  const letter = (): string => RECOVERY_LETTERS.charAt(randomInt(RECOVERY_LETTERS.length));
  const five = (): string => Array.from({ length: 5 }, letter).join('');
  return Array.from({ length: RECOVERY_CODES }, () => `${five()}-${five()}`);
}

export const signingSecret = (secret: Buffer): string =>
  Buffer.from(hkdfSync('sha256', secret, '', 'better-auth', SECRET_BYTES)).toString('hex');

export function createAuth({ db, clock, passwords, secret, publicUrl, issuer, onError }: AuthOptions) {
  const names = cookieNames(publicUrl);
  return betterAuth({
    appName: issuer,
    baseURL: publicUrl,
    secret: signingSecret(secret),
    database: { db, type: 'postgres' },
    telemetry: { enabled: false },
    // Its warnings may hold e-mail addresses. A user who is locked out gets no session: that is no fault.
    logger: {
      level: 'error',
      log: (_level, message) => {
        if (message !== 'Failed to create session') onError(message);
      },
    },
    // Our own limits count before these routes are called (platform/http/middleware/rate-limit.ts).
    rateLimit: { enabled: false },
    ...TABLES,
    emailAndPassword: {
      enabled: true,
      // Users are made by our own statements, once the address is known to be theirs (users.ts).
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_CHARACTERS,
      maxPasswordLength: 1_000,
      password: {
        hash: (password) => passwords.hash(password),
        verify: ({ hash, password }) => passwords.isRight(hash, password),
      },
      resetPasswordTokenExpiresIn: RESET_MS / 1_000,
      revokeSessionsOnPasswordReset: true,
      // An operator gets a new password from two administrators, never by mail.
      sendResetPassword: async ({ user, token }) => {
        if (!(await findPerson(db, { id: user.id }))) await put({ kind: 'reset', to: user.email, token });
      },
      onPasswordReset: ({ user }) => unlockUser(db, user.id),
    },
    // The one place that every session comes through.
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) => {
            const now = clock.now();
            if (!(await admitSignIn(db, session.userId, now))) return false;
            const { device = context?.headers?.get(DEVICE_HEADER) } = session;
            return { data: { ...session, device, confirmedAt: now } };
          },
        },
      },
    },
    plugins: [
      twoFactor({
        issuer,
        twoFactorCookieMaxAge: SECOND_STEP_MS / 1_000,
        backupCodeOptions: { customBackupCodesGenerate: recoveryCodes },
        schema: SECOND_FACTOR_TABLES,
      }),
    ],
    advanced: {
      useSecureCookies: false,
      cookies: {
        session_token: { name: names.session },
        two_factor: { name: names.secondStep },
      },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: {
        generateId: ({ model }) => {
          const random = randomBytes(16).toString('hex');
          return model === 'user' ? makeId('user', random) : random;
        },
      },
    },
  });
}

/**
 * The user of a link by mail, or of a sign-in that waits for its code; undefined if it is over. It stays
 * usable: no function under `auth.api` reads one without using it up (decision 0060).
 */
export async function findVerificationUser(auth: Auth, identifier: string): Promise<string | undefined> {
  const { internalAdapter } = await auth.$context;
  return (await internalAdapter.findVerificationValue(identifier))?.value;
}
