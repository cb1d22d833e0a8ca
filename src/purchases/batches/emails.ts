/** The e-mail to a traveller: what it says, and how often it is tried. It has the install link and never the activation code. */
import { MINUTE_MS } from '../../domain/clock.ts';
import type { Environment } from '../../domain/account.ts';

export const EMAIL_LANGUAGES = ['en', 'fr', 'ar', 'es', 'pt'] as const;
export type EmailLanguage = (typeof EMAIL_LANGUAGES)[number];

interface EmailWords {
  readonly subject: (packageName: string) => string;
  readonly sent: (sender: string, packageName: string) => string;
  readonly open: string;
  readonly personal: string;
  readonly test: string;
}

const WORDS: Readonly<Record<EmailLanguage, EmailWords>> = {
  en: {
    subject: (item) => `Your eSIM: ${item}`,
    sent: (sender, item) => `${sender} has sent you an eSIM: ${item}.`,
    open: 'Open this link on the phone that will use it, and follow the steps:',
    personal: 'The link is personal: do not share it.',
    test: 'This is a test. The eSIM does not work.',
  },
  fr: {
    subject: (item) => `Votre eSIM : ${item}`,
    sent: (sender, item) => `${sender} vous a envoyé une eSIM : ${item}.`,
    open: 'Ouvrez ce lien sur le téléphone qui l’utilisera et suivez les étapes :',
    personal: 'Ce lien est personnel : ne le partagez pas.',
    test: 'Ceci est un test. L’eSIM ne fonctionne pas.',
  },
  ar: {
    subject: (item) => `شريحة eSIM الخاصة بك: ${item}`,
    sent: (sender, item) => `أرسل إليك ${sender} شريحة eSIM: ${item}.`,
    open: 'افتح هذا الرابط على الهاتف الذي سيستخدمها واتبع الخطوات:',
    personal: 'هذا الرابط شخصي: لا تشاركه مع أحد.',
    test: 'هذا اختبار. الشريحة لا تعمل.',
  },
  es: {
    subject: (item) => `Tu eSIM: ${item}`,
    sent: (sender, item) => `${sender} te ha enviado una eSIM: ${item}.`,
    open: 'Abre este enlace en el teléfono que la usará y sigue los pasos:',
    personal: 'El enlace es personal: no lo compartas.',
    test: 'Esto es una prueba. La eSIM no funciona.',
  },
  pt: {
    subject: (item) => `O seu eSIM: ${item}`,
    sent: (sender, item) => `${sender} enviou-lhe um eSIM: ${item}.`,
    open: 'Abra este link no telefone que o vai usar e siga os passos:',
    personal: 'O link é pessoal: não o partilhe.',
    test: 'Isto é um teste. O eSIM não funciona.',
  },
};

export interface InstallEmail {
  /** The merchant's name. */
  readonly sender: string;
  readonly packageName: string;
  readonly url: string;
  readonly language: EmailLanguage;
}

export function installEmailText(email: InstallEmail, environment: Environment) {
  const words = WORDS[email.language];
  const [sender, item] = [oneLine(email.sender), oneLine(email.packageName)];
  const isTest = environment === 'test';
  const lines = [words.sent(sender, item), '', words.open, email.url, '', words.personal];
  return {
    subject: `${words.subject(item)}${isTest ? ' (test)' : ''}`,
    text: `${[...lines, ...(isTest ? ['', words.test] : [])].join('\n')}\n`,
  };
}

/** Keeps a name on one line: text on a line of its own would look like ours. */
function oneLine(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** The last one repeats, so that an e-mail is sent within an hour of mail working again. */
const EMAIL_WAITS_MS: readonly number[] = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS];

/** Longer than a weekend without a mail server. A server's refusal may be about the address or about us, so it is retried as well. */
const GIVE_UP_AFTER_MS = 72 * 60 * MINUTE_MS;

/** The wait after this many attempts; undefined: given up. */
export function emailWaitMs(attempts: number, dueForMs: number): number | undefined {
  if (dueForMs >= GIVE_UP_AFTER_MS) return undefined;
  return EMAIL_WAITS_MS[Math.min(attempts, EMAIL_WAITS_MS.length) - 1] ?? MINUTE_MS;
}
